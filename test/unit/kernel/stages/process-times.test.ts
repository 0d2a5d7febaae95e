import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { familyCpuMs } from '#kernel/stages/process-times.ts';

const usedMs = 100;
/** Uses the processor for some time, says so, and ends with its input. */
const child = `while (process.cpuUsage().user < ${usedMs * 1000});
  process.stdout.write('used'); process.stdin.resume();`;

test.skipIf(process.platform !== 'linux')(
  'processor time of a child is counted while it lives and after its end',
  async () => {
    const before = familyCpuMs(process.pid)!;
    const running = spawn(process.execPath, ['-e', child], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(running, 'exit');
    await once(running.stdout, 'data');
    const living = familyCpuMs(process.pid)!;
    running.stdin.end();
    await ended;
    const gone = familyCpuMs(process.pid)!;
    expect(living - before).toBeGreaterThanOrEqual(usedMs / 2);
    // the child is still counted after its end, by the system's sum of ended children
    expect(gone).toBeGreaterThanOrEqual(living);
  },
);
