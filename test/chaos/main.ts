import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { runChaos } from './chaos.ts';

const usage = `npm run chaos -- [--minutes N] [--seed S] [--sats] [--ord PATH]

A random chain on a real bitcoind, random reorganisations, the indexer killed, the database and the node cut off; at the
end all derived state is compared with that of a clean index (docs/chaos.md).

  --minutes N  faults go on for so long, and until each failpoint was hit (default 5)
  --seed S     of the chain and of the faults (default: a new one, which is printed)
  --sats       index the sats of every output too
  --ord PATH   ask this ord about the final chain as well: every inscription, output and block
  --keep       keep the folder of a run that found nothing, too`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
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
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-chaos-'));
  // as root the database runs as an ordinary account, which must be able to reach the folder
  chmodSync(folder, 0o755);
  const sats = values.sats ? ' --sats' : '';
  const again = `again: npm run chaos -- --minutes ${minutes} --seed ${values.seed}${sats}   folder: ${folder}`;
  console.log(`chaos: seed ${values.seed}, ${minutes} minutes, folder ${folder}`);
  try {
    const { seed, ord = null } = values;
    const result = await runChaos({
      seed,
      minutes,
      isShort: false,
      folder,
      bitcoind,
      hasSats: values.sats,
      ord,
      say: (line) => console.log(line),
    });
    const isClean = / 0 differences/u.test(result.verdict);
    if (isClean && !values.keep) rmSync(folder, { recursive: true, force: true });
    if (!isClean) console.log(again);
    process.exitCode = isClean ? 0 : 1;
    console.log(result.verdict);
  } catch (error) {
    console.error(error);
    console.log(again);
    console.log(`chaos: failed; ${String(error)}, seed=${values.seed}`);
    process.exitCode = 1;
  }
}
