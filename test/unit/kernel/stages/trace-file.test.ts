import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stageClock } from '#kernel/stages/span.ts';
import { TraceFile } from '#kernel/stages/trace-file.ts';
import { completeEvents, readTrace, trackNames, unnested } from '#test/support/trace.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'satscribe-trace-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const noSums = { ms: 0, rows: [], processes: { satscribe: 0, postgres: null } };
const noError = (error: unknown): never => {
  throw error;
};

describe('a trace file', () => {
  test('holds complete events on named tracks, ours and those of the database', () => {
    const path = join(folder, 'named.json');
    const trace = TraceFile.open(path, noError);
    const from = stageClock();
    const event = { kind: 'stage', from, to: from + 1.5, details: { heights: '7-9' } } as const;
    trace.event({ ...event, name: 'ledger', track: 'main thread' });
    trace.event({ ...event, name: 'COPY blocks', track: 'writer connection' });
    trace.close(noSums);
    const events = readTrace(path);
    expect(completeEvents(events).map(({ name, pid, args }) => [name, pid, args])).toEqual([
      ['ledger', 1, { heights: '7-9' }],
      ['COPY blocks', 2, { heights: '7-9' }],
    ]);
    expect(completeEvents(events).every(({ dur }) => dur === 1500 || dur === 1501 || dur === 1499)).toBe(
      true,
    );
    expect([...trackNames(events).values()]).toEqual(['main thread', 'writer connection']);
    expect(events.at(-1)?.name).toBe('stages');
  });

  test('is valid JSON at any moment, and loses at most a chunk to a kill', () => {
    const path = join(folder, 'killed.json');
    const trace = TraceFile.open(path, noError);
    const from = stageClock();
    for (let count = 1; count <= 2000; count++) {
      trace.event({ kind: 'stage', name: 'parse', track: 'parser 1', from, to: from + 1, details: {} });
      if (count % 500 !== 0 || readFileSync(path, 'utf8') === '') continue;
      expect(readTrace(path).length).toBeGreaterThan(0);
    }
    expect(readTrace(path).length).toBeGreaterThan(1000);
  });

  test('is valid JSON if a write fails in its middle', () => {
    const path = join(folder, 'full.json');
    // The file size is limited to 98 kB. Then the system writes only as much as fits, like on a full disk.
    const program = `
      import { TraceFile } from ${JSON.stringify(resolve('src/kernel/stages/trace-file.ts'))};
      const failures = [];
      const trace = TraceFile.open(process.argv[1], (error) => failures.push(error.code));
      const event = { kind: 'stage', name: 'parse', track: 'parser 1', from: 0, to: 1, details: {} };
      for (let count = 0; count < 2000; count++) trace.event(event);
      trace.close({ rows: [] });
      console.log(failures.join());`;
    const node = [process.execPath, '--input-type=module', '--eval', program, path];
    const failures = execFileSync('bash', ['-c', 'ulimit -f 98 && exec "$@"', 'limited', ...node], {
      encoding: 'utf8',
    });
    expect(failures.trim()).toBe('EFBIG');
    const { size } = statSync(path);
    expect(size).toBeGreaterThan(60_000);
    expect(readTrace(path)).toHaveLength(readFileSync(path, 'utf8').trim().split('\n').length - 2);
  });

  test('keeps nothing in memory once a write has failed', () => {
    // a device that is always full, which only Linux has
    if (!existsSync('/dev/full')) return;
    const failures: unknown[] = [];
    const trace = TraceFile.open('/dev/full', (error) => failures.push(error));
    let kept = 0;
    const details = { toJSON: () => `event ${++kept}` };
    const event = { kind: 'stage', name: 'parse', track: 'parser 1', from: 0, to: 1, details } as const;
    while (failures.length === 0) trace.event(event);
    const before = kept;
    for (let count = 0; count < 2000; count++) trace.event(event);
    trace.close(noSums);
    expect(kept).toBe(before);
    expect(failures).toMatchObject([{ code: 'ENOSPC' }]);
  });

  test('keeps spans that touch or nest so after rounding', () => {
    const path = join(folder, 'nested.json');
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 0.01, noNaN: true }), { minLength: 1, maxLength: 30 }),
        (parts) => {
          const trace = TraceFile.open(path, noError);
          const first = stageClock();
          const about = { kind: 'stage', track: 'writer connection', details: {} } as const;
          let from = first;
          for (const part of parts) {
            trace.event({ ...about, name: 'statement', from, to: from + part });
            from += part;
          }
          trace.event({ ...about, name: 'write', from: first, to: from });
          trace.close(noSums);
          expect(unnested(readTrace(path))).toEqual([]);
        },
      ),
    );
  });

  test('that cannot be made is refused', () => {
    expect(() => TraceFile.open(join(folder, 'no', 'folder.json'), noError)).toThrow(
      expect.objectContaining({ code: 'output_failed' }),
    );
  });
});
