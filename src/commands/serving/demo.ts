import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalLines } from '#kernel/text/terminal-text.ts';
import {
  type Command,
  type GivenSettings,
  type PreparedSettings,
  UsageError,
} from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { serve } from './serve.ts';

const samples = ['demo', 'mainnet', 'regtest'] as const;
type Sample = (typeof samples)[number];
const folderOf = (sample: Sample): string =>
  fileURLToPath(new URL(`../../../samples/${sample}`, import.meta.url));

export const demoCommand: Command = {
  name: 'demo',
  object: null,
  summary: 'serve a sample chain with all features, without any setup',
  details: `Prints "ready http://127.0.0.1:PORT" on stdout when everything answers, and runs until Ctrl-C. A second
start uses the existing index. Each sample, and each folder of --blocks, has its own data folder unless
--data names a folder.

The sample "demo" has inscriptions, two collections with sales, runes and sats. If Bitcoin Core is on this
machine (BITCOIND, on the path, or from scripts/install-bitcoind.sh), the demo runs its own regtest node and
takes orders. Order at /inscribe, and pay with the button on the page of the order, or with

  curl http://127.0.0.1:7700/demo/pay -H 'content-type: application/json' \\
    -d '{"address": "bcrt1…", "sats": 3451}'

The demo is also a shop that accepts runes. docs/tokenpay.md, "Try it", shows the requests.

The demo mines a block ten seconds after a transaction reaches its node. The coins are worth nothing.

  satscribe demo                        a chain made for the demo, with orders
  satscribe demo --sample mainnet       twelve real blocks, from the first inscription on
  satscribe demo --sample regtest       a random chain, where every field is known
  npm run demo -- --port 7701           the same command by its short name`,
  flags: [
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    settingFlag(
      'dataDir',
      'DIR',
      './data/demo-SAMPLE; ./data/demo-chain for the sample "demo"; ./data/demo-NAME for --blocks',
    ),
    {
      name: 'sample',
      value: 'NAME',
      description: `sample of bundled blocks: ${samples.slice(0, -1).join(', ')} or ${samples.at(-1)}`,
      setting: null,
      default: 'demo',
    },
    { ...settingFlag('blocksDir', 'DIR'), description: 'folder of blocks to use instead of a sample' },
    settingFlag('logLevel', 'LEVEL', 'warn'),
    settingFlag('logFormat', 'FORM'),
  ],
  prepare,
  run: async (context) => {
    const { dataDir, blocksDir } = context.config;
    const advice = 'a first start takes up to a minute; you can stop it with Ctrl-C, and the data is kept';
    process.stderr.write(`data folder: ${resolve(dataDir)} (${advice})\n`);
    if (blocksDir !== folderOf('demo')) return serve(context, undefined);
    // loaded here, so that help and usage errors do not load it
    const { prepareDemo } = await import('#src/app/demo/demo.ts');
    const demo = await prepareDemo(context, blocksDir);
    process.stderr.write(terminalLines(`${demo.words}\n`));
    await serve(demo.context, undefined, demo.additions);
  },
};

/** Settings for people who try Satscribe for the first time. No key is needed, and there are no limits. */
const demoDefaults = {
  logLevel: 'warn',
  searchAccess: 'open',
  searchAddressRate: '0',
  buildAddressRate: '0',
  orderRate: '0',
} as const;

/** Settings of the sample "demo", which is also a shop. Its blocks are mined only while something waits for them. */
const shopDefaults = {
  tokenpayConfirmations: '1',
  // without this, all sats would be special, because all sats of such a short chain are vintage
  tokenpaySpecialSats: 'none',
  tokenpayTestPay: 10_000_000,
} as const;

function prepare({ flags, settings, env }: GivenSettings): PreparedSettings {
  const sampleGiven = flags['sample'];
  const folderGiven = settings.blocksDir ?? env['BLOCKS_DIR'] ?? '';
  if (sampleGiven === undefined && folderGiven !== '') {
    return { settings, defaults: { ...demoDefaults, dataDir: dataDirFor(folderGiven) } };
  }
  const sample = samples.find((known) => known === (sampleGiven ?? 'demo'));
  if (sample === undefined) {
    throw new UsageError(
      `--sample ${sampleGiven} is unknown; the samples are ${samples.slice(0, -1).join(', ')} and ${samples.at(-1)}`,
    );
  }
  if (settings.blocksDir !== undefined) throw new UsageError('--sample and --blocks exclude each other');
  const blocksDir = folderOf(sample);
  // earlier versions had the blocks of mainnet in ./data/demo
  const dataDir = `./data/demo-${sample === 'demo' ? 'chain' : sample}`;
  const indexSats = sample === 'demo';
  // pass it as a flag, because --sample is a flag too
  const shop = sample === 'demo' ? shopDefaults : {};
  return { settings: { ...settings, blocksDir }, defaults: { ...demoDefaults, ...shop, dataDir, indexSats } };
}

/**
 * The data folder for a folder of blocks. Its name contains the name of the blocks folder for people, and a hash,
 * because two folders may have the same name.
 */
function dataDirFor(blocksDir: string): string {
  const path = resolve(blocksDir);
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return `./data/demo-${basename(path).replaceAll(/[^\w.-]/gu, '_')}-${digest}`;
}
