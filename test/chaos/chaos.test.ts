import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { runChaos } from './chaos.ts';

const bitcoind = bitcoindThatRelaysReveals();

describe.skipIf(bitcoind === null)('an index that is killed at every phase of a block, and cut off', () => {
  test('equals in the end a clean index of the same chain', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'satscribe-chaos-'));
    // if this test runs as root, the database runs as an ordinary account, which must be able to reach the folder
    chmodSync(folder, 0o755);
    const said: string[] = [];
    const options = {
      seed: 'suite',
      minutes: 0.2,
      isShort: true,
      folder,
      bitcoind: bitcoind!,
      hasSats: true,
      ord: null,
      say: (line: string) => said.push(line),
    };
    // if the run fails, the folder stays, because it has logs, and the data of node and database
    const { differences, verdict } = await runChaos(options);
    expect(differences, said.join('\n')).toEqual([]);
    expect(verdict).toMatch(/^chaos: 0 differences; kills=\d+, reorgs=[1-9]/u);
    rmSync(folder, { recursive: true, force: true });
  });
});
