import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { runChaos } from './chaos.ts';
import { runOrderChaos } from './orders/order-chaos.ts';
import { runTokenChaos } from './tokens/token-chaos.ts';

const usage = `npm run chaos -- [--orders] [--tokens] [--minutes N] [--seed S] [--json] [--sats] [--ord PATH]

A random chain on a real bitcoind, random reorganisations, the indexer killed, the database and the node cut off; at the
end all derived state is compared with that of a clean index (docs/chaos.md).

  --minutes N  faults continue for so long, and until each failpoint was hit (default 5)
  --seed S     of the chain and of the faults (default: a new one, which is printed)
  --orders     random customers of orders instead of random blocks, etchings and mints among them: what became of their
               money is compared with the chain
  --tokens     random customers of shops that are paid in runes, withdrawals, and buyers of items that are sold for runes:
               ledger and index are compared with a model all through; with --orders: a run of each, one after the other
  --json       of orders and tokens: the result as JSON on the last line of a run in place of the verdict
  --sats       index the sats of every output too
  --ord PATH   ask this ord about the final chain as well: every inscription, output and block
  --keep       keep the folder of a run that found nothing, too`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    orders: { type: 'boolean', default: false },
    tokens: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    sats: { type: 'boolean', default: false },
    ord: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const minutes = Number(values.minutes);
const bitcoind = bitcoindThatRelaysReveals();

if (values.help || !Number.isFinite(minutes) || minutes < 0) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else if (bitcoind === null) {
  process.exitCode = 2;
} else {
  if (values.orders) await run('orders', bitcoind);
  if (values.tokens) await run('tokens', bitcoind);
  if (!values.orders && !values.tokens) await run('blocks', bitcoind);
}

/** One run, with its verdict on the last line. */
async function run(kind: 'blocks' | 'orders' | 'tokens', executable: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-chaos-'));
  // if this program runs as root, the database runs as an ordinary account, which must be able to reach the folder
  chmodSync(folder, 0o755);
  const { seed, ord = null, sats } = values;
  const flags = `${kind === 'blocks' ? '' : ` --${kind}`}${sats ? ' --sats' : ''}`;
  const again = `again: npm run chaos -- --minutes ${minutes} --seed ${seed}${flags}   folder: ${folder}`;
  console.log(`chaos: ${kind}, seed ${seed}, ${minutes} minutes, folder ${folder}`);
  try {
    const common = {
      seed,
      minutes,
      folder,
      bitcoind: executable,
      say: (line: string) => console.log(line),
    };
    const result =
      kind === 'tokens'
        ? await runTokenChaos(common)
        : kind === 'orders'
          ? await runOrderChaos(common)
          : await runChaos({ ...common, isShort: false, hasSats: sats, ord });
    const isClean = / 0 differences/u.test(result.verdict);
    if (isClean && !values.keep) rmSync(folder, { recursive: true, force: true });
    if (!isClean) {
      console.log(again);
      process.exitCode = 1;
    }
    console.log(kind !== 'blocks' && values.json ? JSON.stringify(result) : result.verdict);
  } catch (error) {
    console.error(error);
    console.log(again);
    console.log(`chaos: failed; ${String(error)}, seed=${seed}`);
    process.exitCode = 1;
  }
}
