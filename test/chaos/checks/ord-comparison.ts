import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { displayHash } from '#kernel/primitives/hash.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { exactJson } from '#test/support/exact-json.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';

export interface OrdComparison {
  readonly asked: number;
  readonly differences: readonly string[];
}

const atTipWithinMs = 120_000;
const lanes = 6;
const shownLength = 300;
/** Fields of runes. They are left out, because they have no source here. */
const leftOut: ReadonlySet<string> = new Set(['rune', 'runes', 'runestone']);

/** Indexes the node's chain with a new ord. Sends ord and Satscribe the same requests, and compares every field. */
export async function compareWithOrd(
  ord: { readonly executable: string; readonly flags: readonly string[] },
  node: Bitcoind,
  origin: string,
  pool: pg.Pool,
  folder: string,
): Promise<OrdComparison> {
  const port = await freePort();
  const child = spawn(
    ord.executable,
    [
      '--regtest',
      ...ord.flags,
      `--bitcoin-rpc-url=127.0.0.1:${node.rpcPort}`,
      `--cookie-file=${node.cookieFile}`,
      `--data-dir=${folder}/ord`,
      'server',
      '--http',
      `--http-port=${port}`,
      '--address=127.0.0.1',
    ],
    { stdio: 'ignore' },
  );
  try {
    const ordOrigin = `http://127.0.0.1:${port}`;
    const tip = await node.rpc.call<number>('getblockcount');
    await atTip(ordOrigin, tip);
    const paths = await questions(pool, tip);
    const queue = paths.values();
    const differences: string[] = [];
    const lane = async (): Promise<void> => {
      for (const path of queue) {
        const [ours, theirs] = await Promise.all([ask(origin, path), ask(ordOrigin, path)]);
        if (!isSame(ours, theirs)) {
          const shown = [ours, theirs].map(({ status, text }) => `${status} ${text.slice(0, shownLength)}`);
          differences.push(`${path}: ${shown.join(' and ord: ')}`);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return { asked: paths.length, differences };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Requests for every inscription, for every output that holds or held an inscription, and for every block. */
async function questions(pool: pg.Pool, tip: number): Promise<string[]> {
  const { rows: inscriptions } = await pool.query<{ txid: Buffer; index: number }>(
    'SELECT txid, index FROM chain.inscriptions ORDER BY key',
  );
  const { rows: outputs } = await pool.query<{ txid: Buffer; vout: number }>(
    `SELECT DISTINCT coalesce(l.txid, i.txid) AS txid, l.vout
     FROM chain.locations l JOIN chain.inscriptions i USING (key) WHERE l.place = 0`,
  );
  const ofInscription = ['/inscription/', '/r/inscription/', '/r/children/', '/r/parents/', '/r/metadata/'];
  const ofBlock = ['/block/', '/inscriptions/block/', '/r/blockinfo/'];
  return [
    ...inscriptions.flatMap(({ txid, index }) =>
      ofInscription.map((path) => `${path}${displayHash(txid)}i${index}`),
    ),
    ...outputs.map(({ txid, vout }) => `/output/${displayHash(txid)}:${vout}`),
    ...Array.from({ length: tip + 1 }, (_, height) => ofBlock.map((path) => path + height)).flat(),
  ];
}

interface Asked {
  readonly status: number;
  readonly text: string;
}

async function ask(origin: string, path: string): Promise<Asked> {
  const answer = await fetch(`${origin}${path}`, { headers: { accept: 'application/json' } });
  return { status: answer.status, text: await answer.text() };
}

async function atTip(origin: string, tip: number): Promise<void> {
  const until = Date.now() + atTipWithinMs;
  for (;;) {
    const height = await ask(origin, '/r/blockheight').catch(() => null);
    if (height?.status === 200 && Number(height.text) === tip) return;
    if (Date.now() > until) throw new Error(`ord did not reach block ${tip}`);
    await delay(200);
  }
}

/** Whether two responses match. If ord responds with an error, any response except a server error is accepted. */
function isSame(ours: Asked, theirs: Asked): boolean {
  if (theirs.status !== 200) return ours.status < 500;
  if (ours.status !== 200) return false;
  return shownOf(ours.text) === shownOf(theirs.text);
}

/** The text of a JSON value with its keys in order, without the excluded keys. */
function shownOf(text: string): string {
  const inOrder = (value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return value.map(inOrder);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => !leftOut.has(key));
    return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, inOrder(each)]);
  };
  return JSON.stringify(inOrder(exactJson(text)));
}
