import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { runOrderChaos } from './order-chaos.ts';

const bitcoind = bitcoindThatRelaysReveals();
/** Maximum duration of the test, in ms. Each failpoint takes some ten seconds, or twice as long on a busy machine. */
const runMs = 1_500_000;

describe.skipIf(bitcoind === null)('customers of a service that is killed at each persisted step', () => {
  test(
    'each get what they paid for, once, or their money back, once',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'satscribe-chaos-'));
      // if this test runs as root, the database runs as an ordinary account, which must be able to reach the folder
      chmodSync(folder, 0o755);
      const said: string[] = [];
      const seed = process.env['PROPERTY_SEED'] ?? 'suite';
      const say = (line: string) => said.push(line);
      // if the run fails, the folder stays, because it has logs, and the data of node and database
      const result = await runOrderChaos({ seed, minutes: 0, folder, bitcoind: bitcoind!, say });
      expect(result.differences, said.join('\n')).toEqual([]);
      expect(result.lost).toBe(0);
      expect(result.delivered).toBeGreaterThan(0);
      expect(result.refunded).toBeGreaterThan(0);
      rmSync(folder, { recursive: true, force: true });
    },
    runMs,
  );
});
