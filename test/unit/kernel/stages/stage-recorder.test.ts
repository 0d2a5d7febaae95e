import { describe, expect, test } from 'vitest';
import { mainTrack, type Span, stageClock } from '#kernel/stages/span.ts';
import { StageRecorder, type TraceEvent } from '#kernel/stages/stage-recorder.ts';
import type { StageRow } from '#kernel/stages/stage-sums.ts';

const start = stageClock();
const span = (stage: string, track: string, from: number, to: number, rest: Partial<Span> = {}): Span => ({
  stage,
  track,
  from: start + from,
  to: start + to,
  cpuMs: null,
  ...rest,
});
const rowOf = (recorder: StageRecorder, stage: string): StageRow | undefined =>
  recorder.sums().rows.find((row) => row.stage === stage);
const roundedWaits = (recorder: StageRecorder, stage: string): [string, number][] =>
  Object.entries(rowOf(recorder, stage)?.waitedFor ?? {}).map(([name, ms]) => [name, Math.round(ms)]);

describe('the recorder of stages', () => {
  test('adds up the spans of a stage', () => {
    const recorder = new StageRecorder();
    recorder.span(span('parse', 'parser 1', 0, 10, { cpuMs: 8, bytes: 100, rows: 1 }));
    recorder.span(span('parse', 'parser 2', 5, 25, { cpuMs: 9, bytes: 50, rows: 2 }));
    const { count, ms, cpuMs, bytes, rows } = rowOf(recorder, 'parse')!;
    expect({ count, ms: Math.round(ms), cpuMs, bytes, rows }).toEqual({
      count: 2,
      ms: 30,
      cpuMs: 17,
      bytes: 150,
      rows: 3,
    });
  });

  test('gives the stages in the order in which data passes them', () => {
    const recorder = new StageRecorder();
    for (const stage of ['commit', 'COPY b', 'fetch', 'COPY a', 'ledger']) {
      recorder.span(span(stage, 'track', 0, 10));
    }
    const { rows, processes } = recorder.sums();
    expect(rows.map(({ stage }) => stage)).toEqual(['fetch', 'ledger', 'COPY b', 'COPY a', 'commit']);
    expect(processes).toEqual({ satscribe: expect.any(Number) as number, postgres: null });
  });

  test('charges a wait to the stages that ran meanwhile, and each moment once', () => {
    const recorder = new StageRecorder();
    recorder.span(span('fetch', 'fetch 1', 0, 40));
    recorder.span(span('fetch', 'fetch 2', 10, 50));
    recorder.span(span('parse', 'parser 1', 50, 80, { cpuMs: 20 }));
    recorder.waited({
      ...span('ledger', mainTrack, 20, 100),
      on: [({ stage }) => stage === 'fetch' || stage === 'parse'],
      otherwise: 'workers',
    });
    expect(roundedWaits(recorder, 'ledger')).toEqual([
      ['parse', 30],
      ['fetch', 30],
      ['workers', 20],
    ]);
    expect(Math.round(rowOf(recorder, 'ledger')!.waitMs)).toBe(80);
  });

  test('charges a wait for a waiting thread to the stage that this one waited for', () => {
    const recorder = new StageRecorder();
    recorder.span(span('COPY locations', 'writer connection', 0, 60));
    recorder.waited({
      ...span('ledger', mainTrack, 10, 60),
      on: [({ track }) => track === 'writer connection'],
      otherwise: 'write',
    });
    recorder.waited({
      ...span('fetch', 'fetch 1', 20, 60),
      on: [({ track }) => track === mainTrack],
      otherwise: 'ledger',
    });
    expect(roundedWaits(recorder, 'fetch')).toEqual([['COPY locations', 40]]);
  });

  test('prefers the first list of causes of a wait', () => {
    const recorder = new StageRecorder();
    recorder.span(span('fetch', 'fetch 1', 0, 30));
    recorder.span(span('ledger', mainTrack, 0, 50, { cpuMs: 50 }));
    recorder.waited({
      ...span('parse', 'parser 1', 0, 60),
      on: [({ stage }) => stage === 'fetch', ({ track }) => track === mainTrack],
      otherwise: 'workers',
    });
    expect(roundedWaits(recorder, 'parse')).toEqual([
      ['fetch', 30],
      ['ledger', 20],
      ['workers', 10],
    ]);
  });

  test('a statement waits for the time that it did not compute', () => {
    const recorder = new StageRecorder();
    recorder.span(span('ledger', mainTrack, 0, 20, { cpuMs: 20 }));
    recorder.statement(span('COPY blocks', 'writer connection', 0, 40, { cpuMs: 10 }));
    expect(Math.round(rowOf(recorder, 'COPY blocks')!.waitMs)).toBe(30);
    expect(roundedWaits(recorder, 'COPY blocks')).toEqual([
      ['ledger', 15],
      ['disk, locks, processors', 15],
    ]);
  });

  test('names the stage that bounds the main thread', () => {
    const recorder = new StageRecorder();
    const bound = (): string | null =>
      recorder.bound((stage) => (stage.startsWith('COPY') ? 'database' : stage));
    expect(bound()).toBeNull();
    recorder.span(span('ledger', mainTrack, 0, 20, { cpuMs: 20 }));
    recorder.span(span('fetch', 'fetch 1', 0, 100));
    expect(bound()).toBe('ledger');
    recorder.waited({ ...span('ledger', mainTrack, 20, 35), on: [], otherwise: 'COPY blocks' });
    expect(bound()).toBe('ledger');
    recorder.waited({ ...span('ledger', mainTrack, 35, 50), on: [], otherwise: 'COPY locations' });
    expect(bound()).toBe('database');
  });

  test('gives parallel work a track of its own, and uses it again', () => {
    const recorder = new StageRecorder();
    const [first, second] = [recorder.takeTrack('fetch'), recorder.takeTrack('fetch')];
    first.free();
    expect([first.track, second.track, recorder.takeTrack('fetch').track]).toEqual([
      'fetch 1',
      'fetch 2',
      'fetch 1',
    ]);
  });

  test('ends its details once, with the other work of threads', () => {
    const events: TraceEvent[] = [];
    const closed: string[][] = [];
    const recorder = new StageRecorder({
      event: (event) => events.push(event),
      close: ({ rows }) => closed.push(rows.map(({ stage }) => stage)),
    });
    recorder.span(span('ledger', mainTrack, 0, 20, { cpuMs: 0 }));
    expect(recorder.isDetailed).toBe(true);
    const sums = recorder.end();
    expect(sums?.rows.map(({ stage }) => stage)).toEqual([
      'ledger',
      'main thread, other',
      'other threads (V8, libuv)',
    ]);
    expect([recorder.isDetailed, recorder.end()]).toEqual([false, null]);
    recorder.span(span('ledger', mainTrack, 20, 30));
    expect(events.map(({ name }) => name)).toEqual(['ledger']);
    expect(closed).toHaveLength(1);
  });
});
