import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '#kernel/process/free-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { OrderService } from './order-service.ts';

/** How long ord may take to index a chain of tests, in ms. It usually takes seconds. */
const indexedMs = 120_000;

/**
 * Compares all runes of a service, and all outputs that hold them, with those that ord finds in the blocks of the same
 * node: each field of `/rune/<name>`, and the runes of `/output/<outpoint>`. The variable ORD names the program, which
 * takes minutes to build. Without ORD nothing is compared, and only `expectModelOfChain` reads the protocol a second
 * time.
 */
export async function expectOrdsAnswers(service: OrderService | undefined): Promise<void> {
  const program = process.env['ORD'];
  if (service === undefined || program === undefined) return;
  const { rpcPort, cookieFile, rpc } = service.bitcoind;
  const folder = await mkdtemp(join(tmpdir(), 'satscribe-ord-'));
  const port = await freePort();
  const ord = spawn(
    program,
    `--regtest --bitcoin-rpc-url 127.0.0.1:${rpcPort} --cookie-file ${cookieFile} --data-dir ${folder} --index-runes server --http --http-port ${port} --address 127.0.0.1`.split(
      ' ',
    ),
    { stdio: 'ignore' },
  );
  try {
    const origin = `http://127.0.0.1:${port}`;
    const tip = await rpc.call<number>('getblockcount');
    await waitUntil(
      async () => {
        const answer = await fetch(`${origin}/blockheight`);
        return Number(await answer.text()) === tip;
      },
      { limitMs: indexedMs, everyMs: 200 },
    );
    const names = await runeNames(service);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const path = `/rune/${encodeURIComponent(name)}`;
      expect([name, await read(service.origin, path)]).toEqual([name, await read(origin, path)]);
    }
    for (const outpoint of await holders(service)) {
      const path = `/output/${outpoint}`;
      const { runes } = await read(service.origin, path);
      expect([outpoint, runes]).toEqual([outpoint, (await read(origin, path))['runes']]);
    }
  } finally {
    ord.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function read(origin: string, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(new URL(path, origin), { headers: { accept: 'application/json' } });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Record<string, unknown>;
}

async function runeNames(service: OrderService): Promise<readonly string[]> {
  const names: string[] = [];
  for (let page = 0, more = true; more; page++) {
    const shown = (await read(service.origin, `/runes/${page}`)) as unknown as RunesPage;
    names.push(...shown.entries.map(([, { spaced_rune: name }]) => name));
    more = shown.more;
  }
  return names;
}

/** A page of ord's `/runes/<page>` response. */
interface RunesPage {
  readonly entries: readonly (readonly [string, { readonly spaced_rune: string }])[];
  readonly more: boolean;
}

async function holders({ database }: OrderService): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ txid: Buffer; vout: number }>(
    'SELECT DISTINCT txid, vout FROM chain.rune_balances WHERE spent_height IS NULL ORDER BY txid, vout',
  );
  return rows.map(({ txid, vout }) => `${Buffer.from(txid).reverse().toString('hex')}:${vout}`);
}
