import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { keepOnCore } from '#bench/follow/one-core.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const coresOf = (pid: number): string | undefined =>
  /^Cpus_allowed_list:\s+(\S+)$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

test.runIf(process.platform === 'linux')(
  'a process stays on one core, with the children that it has and those that it starts later',
  async () => {
    const script = 'sleep 60 & echo $!; read -r line; sleep 60 & echo $!; wait';
    const shell = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    const pid = shell.pid as number;
    try {
      let said = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const children = (): number[] => said.trim().split(/\s+/u).filter(Boolean).map(Number);
      await waitUntil(() => children().length === 1);
      await keepOnCore(pid, 0);
      shell.stdin.write('\n');
      await waitUntil(() => children().length === 2);
      expect([pid, ...children()].map(coresOf)).toEqual(['0', '0', '0']);
    } finally {
      process.kill(-pid, 'SIGKILL');
    }
  },
);
