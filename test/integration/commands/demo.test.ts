import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '#kernel/process/version.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { type CliProcess, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const run = promisify(execFile);
const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/u;
const readmeOrigin = 'http://127.0.0.1:7700';
const core = bitcoindThatRelaysReveals();

interface Shown {
  readonly command: string;
  readonly answer: string;
}

/**
 * The requests of a document, with the responses that it shows. Requests that need an id of an earlier response are
 * left out.
 */
function shownRequests(document: string): Shown[] {
  const text = readFileSync(document, 'utf8');
  const blocks = [...text.matchAll(/```\n(\$ curl [\s\S]*?)```/gu)].map(([, block]) => block ?? '');
  const requests = blocks.flatMap((block) => block.split(/^\$ /mu).slice(1));
  return requests.flatMap((request) => {
    const start = /^[[{]/mu.exec(request)?.index ?? request.length;
    const [command, answer] = [request.slice(0, start).trim(), request.slice(start)];
    return command.includes('…') || command.includes(' -O ') ? [] : [{ command, answer }];
  });
}

/** Quoted texts of a shown response that a later response also has. */
const lastingTexts = (answer: string): string[] =>
  (answer.match(/"(?:[^"\\]|\\.)+"/gu) ?? []).filter(
    (text) => !text.includes('…') && !/\d{4}-\d\d-\d\dT.*Z"$/u.test(text),
  );

describe.skipIf(core === null)('the demo beside Bitcoin Core', () => {
  let folder: DataDir;
  let demo: CliProcess;
  let address = '';

  beforeAll(async () => {
    folder = await makeDataDir();
    demo = startCli(['demo', '--port', '0', '--data', folder.path], { BITCOIND: core ?? '' });
    [, address = ''] = await demo.seen(ready);
  });

  afterAll(async () => {
    demo.child.kill('SIGINT');
    const { exitCode, stderr } = await demo.ended;
    await folder.remove();
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^data folder: .*\norders are on .*\n$/u)]);
  });

  test.each([
    ['README.md', 3],
    ['docs/demo.md', 5],
  ])('answers the requests of %s as it shows them', async (document, count) => {
    const requests = shownRequests(document);
    expect(requests).toHaveLength(count);
    for (const { command, answer } of requests) {
      const asked = command.replaceAll(readmeOrigin, address);
      const { stdout } = await run('bash', ['-c', `${asked} -s`]);
      const given = stdout.replaceAll(address, readmeOrigin);
      for (const text of lastingTexts(answer)) expect(given, command).toContain(text);
    }
  });

  test('says the version of package.json in /status and in its API document', async () => {
    const read = async (path: string): Promise<unknown> =>
      (await fetch(new URL(path, address), { headers: { accept: 'application/json' } })).json();
    expect(await read('/status')).toMatchObject({ satscribe: { version } });
    expect(await read('/openapi.json')).toMatchObject({ info: { version } });
  });

  test('keeps its node when a second demo is started in its folder', async () => {
    const second = await runCli(['demo', '--port', '0', '--data', folder.path], { BITCOIND: core ?? '' });
    expect([second.exitCode, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toContain('data_dir_busy');
    const health = await fetch(new URL('/health/ready', address));
    expect(await health.json()).toMatchObject({ status: 'ok', state: 'following' });
    expect((await fetch(new URL('/mempool/api/v1/fees/recommended', address))).status).toBe(200);
  });

  test('has an address for orders and a button that pays them on its pages', async () => {
    const pageOf = async (path: string): Promise<Response> =>
      fetch(new URL(path, address), { headers: { accept: 'text/html' } });
    expect(await (await pageOf('/inscribe')).text()).toMatch(/<textarea id="receiveAddress"[^>]*>bcrt1p/u);
    const order = await pageOf('/order');
    expect(order.headers.get('content-security-policy')).toContain('*:*/demo/pay');
    expect(await order.text()).toContain(' data-demo-pay');
  });

  test.concurrent('is the shop of docs/tokenpay.md, whose commands work unchanged', async () => {
    const [, section = ''] =
      /\n## Try it\n([\s\S]*?)\n## /u.exec(readFileSync('docs/tokenpay.md', 'utf8')) ?? [];
    const blocks = [...section.matchAll(/```\n([\s\S]*?)```/gu)].map(([, block = '']) =>
      block.replaceAll(readmeOrigin, address).replaceAll('data/demo-chain', folder.path),
    );
    const [, ordering = '', paying = '', reading = '', withdrawing = ''] = blocks;
    const told = await run('bash', ['-c', `set -e\n${ordering}\n${paying}\necho; echo "$key" "$id"`]);
    const [, key = '', id = ''] = /\n(satscribe_\w+) (\S+)\n$/u.exec(told.stdout) ?? [];
    expect(told.stdout).toContain(`"orderId":"${id}","case":"exact"`);
    const checkout = await fetch(new URL(`/tokenpay/checkout/${id}`, address));
    expect([checkout.status, await checkout.text()]).toEqual([
      200,
      expect.stringContaining('SATSCRIBE•DEMO•COIN'),
    ]);
    const orderNow = async () => (await fetch(new URL(`/tokenpay/order/${id}`, address))).json();
    await waitUntil(async () => ((await orderNow()) as { state: string }).state === 'completed', {
      limitMs: 60_000,
    });
    const [functions = ''] = ordering.split('satscribe accounts');
    const { stdout } = await run('bash', ['-c', `key=${key}\nid=${id}\n${functions}\n${reading}`]);
    expect(stdout).toContain('"state":"completed"');
    expect(stdout).toContain('"rune":{"SATSCRIBE•DEMO•COIN":2.5}');
    const dry = withdrawing.split('\n', 2).join('\n');
    const priced = await run('bash', ['-c', `key=${key}\n${functions}\n${dry}`]);
    expect(priced.stdout).toContain('"dryRun":true');
    // other commands use these settings to reach the demo's node
    const settings = `${functions}\n. $data/node.env\necho "$BITCOIN_RPC_URL"; head -c 11 "$BITCOIN_COOKIE_FILE"`;
    expect((await run('bash', ['-c', settings])).stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n__cookie__:$/u);
  });

  const gm = { name: 'gm.txt', size: 2, dataURL: 'data:text/plain;base64,Z20=' };
  test.concurrent.each([
    ['an order of a file', '/inscribe', { files: [gm] }],
    ['an etching', '/runes/etch', { rune: 'THE•RUNE•OF•THE•DEMO', premine: 21 }],
  ])('takes %s, pays it with its coins, and delivers it with its own blocks', async (_, path, body) => {
    const post = async (to: string, given: unknown): Promise<Record<string, never>> => {
      const answer = await fetch(new URL(to, address), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given),
      });
      return (await answer.json()) as Record<string, never>;
    };
    const order = async (): Promise<{ state: string; charge: { address?: string; amount: number } }> =>
      (await (await fetch(new URL(`/order?id=${id}`, address))).json()) as Awaited<ReturnType<typeof order>>;
    const { id } = await post(path, { fee: 5, receiveAddress: addressOf(3), ...body });
    await waitUntil(async () => (await order()).charge.address !== undefined);
    const { charge } = await order();
    expect(await post('/demo/pay', { address: 'bc1qunknown', sats: 1000 })).toMatchObject({
      error: 'this is not an address of regtest',
    });
    expect(await post('/demo/pay', { address: charge.address, sats: charge.amount })).toEqual({
      txid: expect.stringMatching(/^[0-9a-f]{64}$/u) as string,
    });
    await waitUntil(async () => (await order()).state === 'completed', { limitMs: 120_000 });
  });
});

test('the demo says what it lacks for orders, and serves the same chain without them', {
  tags: ['proof'],
}, async () => {
  const folder = await makeDataDir();
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    XDG_CACHE_HOME: join(folder.path, 'none'),
  };
  const demo = startCli(['demo', '--port', '0', '--data', folder.path, '--log-level', 'info'], env);
  try {
    const [, address = ''] = await demo.seen(ready);
    expect(demo.stderr()).toContain(
      'no orders, because Bitcoin Core is missing; `bash scripts/install-bitcoind.sh`',
    );
    const paid = await fetch(new URL('/demo/pay', address), { method: 'POST', body: '{}' });
    expect(paid.status).toBe(404);
    const holders = await fetch(new URL('/rune/SATSCRIBE•DEMO•COIN/holders', address));
    expect(await holders.json()).toMatchObject({ count: 7 });
    // the address to which the operator sends coins for test payments of shops
    await waitUntil(async () => /test payments are on.*to this address/u.test(demo.stderr()));
    expect(demo.stderr()).toMatch(/"address":"bcrt1p\w{58}"/u);
  } finally {
    demo.child.kill('SIGINT');
    await demo.ended;
    await folder.remove();
  }
});
