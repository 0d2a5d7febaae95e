import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Command,
  type GivenSettings,
  type PreparedSettings,
  UsageError,
} from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { serve } from './serve.ts';

const samples = ['mainnet', 'regtest'] as const;

export const demoCommand: Command = {
  name: 'demo',
  object: null,
  summary: 'index the bundled blocks and serve them, without any setup',
  details: `Prints "ready http://127.0.0.1:PORT" on stdout when everything answers, and runs until Ctrl-C. A
second start uses the existing index. Each sample, and each folder of --blocks, has its own data
folder unless --data names one.

  satscribe demo                        real mainnet blocks
  satscribe demo --sample regtest       a whole chain, where every field is known
  npm run demo -- --port 7701           the same command by its short name`,
  flags: [
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    settingFlag('dataDir', 'DIR', './data/demo, ./data/demo-regtest, or for --blocks ./data/demo-NAME'),
    {
      name: 'sample',
      value: 'NAME',
      description: `which bundled blocks: ${samples.join(' or ')}`,
      setting: null,
      default: 'mainnet',
    },
    { ...settingFlag('blocksDir', 'DIR'), description: 'folder of blocks instead of the bundled ones' },
    settingFlag('logLevel', 'LEVEL', 'warn'),
    settingFlag('logFormat', 'FORM'),
  ],
  prepare,
  run: (context) => {
    process.stderr.write(`data folder: ${resolve(context.config.dataDir)}\n`);
    return serve(context, undefined);
  },
};

/** For a first look: no key is needed, and there are no limits. */
const demoDefaults = {
  logLevel: 'warn',
  searchAccess: 'open',
  searchAddressRate: '0',
  buildAddressRate: '0',
  orderRate: '0',
} as const;

function prepare({ flags, settings, env }: GivenSettings): PreparedSettings {
  const sampleGiven = flags['sample'];
  const folderGiven = settings.blocksDir ?? env['BLOCKS_DIR'] ?? '';
  if (sampleGiven === undefined && folderGiven !== '') {
    return { settings, defaults: { ...demoDefaults, dataDir: dataDirFor(folderGiven) } };
  }
  const sample = samples.find((known) => known === (sampleGiven ?? 'mainnet'));
  if (sample === undefined) {
    throw new UsageError(`--sample ${sampleGiven}: the samples are ${samples.join(' and ')}`);
  }
  if (settings.blocksDir !== undefined) throw new UsageError('--sample and --blocks exclude each other');
  const blocksDir = fileURLToPath(new URL(`../../../samples/${sample}`, import.meta.url));
  const dataDir = sample === 'mainnet' ? './data/demo' : `./data/demo-${sample}`;
  // a flag, because --sample is one
  return { settings: { ...settings, blocksDir }, defaults: { ...demoDefaults, dataDir } };
}

/** A data folder for a folder of blocks: its name, to recognise it, and a hash, because names repeat. */
function dataDirFor(blocksDir: string): string {
  const path = resolve(blocksDir);
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return `./data/demo-${basename(path).replaceAll(/[^\w.-]/gu, '_')}-${digest}`;
}
