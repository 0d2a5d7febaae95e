import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInSatributes as satributes } from '#kernel/satributes/definitions.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

interface Explained {
  readonly sat: number;
  readonly satributes: readonly { readonly id: string; readonly range: object }[];
  readonly unknown: readonly { readonly id: string }[];
}

let mainnet: HttpApp;
let regtest: HttpApp;

beforeAll(async () => {
  mainnet = await createHttpApp([], { network: 'mainnet' });
  regtest = await createHttpApp([]);
});

afterAll(async () => {
  await mainnet.close();
  await regtest.close();
});

const get = async (url: string, { app } = mainnet) =>
  app.inject({ url, headers: { accept: 'application/json' } });
const page = async (url: string) => mainnet.app.inject({ url, headers: { accept: 'text/html' } });

describe('/satscanner/supported-satributes', () => {
  test('lists the satributes that can be found, in the public scanner’s spelling', async () => {
    const { result } = (await get('/satscanner/supported-satributes')).json<{ result: string[] }>();
    expect(result.slice(0, 14)).toEqual([
      'uncommon',
      'rare',
      'epic',
      'legendary',
      'mythic',
      'block-9',
      'block-78',
      'block-666',
      'block-999',
      'vintage',
      'number-palindrome',
      'first-transaction',
      'nakamoto',
      'black',
    ]);
    // the sats with these satributes are unknown
    for (const id of ['pizza', 'hitman', 'silkroad', 'legacy']) expect(result).not.toContain(id);
  });

  test('leaves out satributes of another network', async () => {
    const answer = await get('/satscanner/supported-satributes', regtest);
    const jpeg = await get('/satributes/jpeg?sat=151700000000000', regtest);
    expect(jpeg.json()).toMatchObject({ findable: false, explain: { has: false, range: null } });
    const { result } = answer.json<{ result: string[] }>();
    expect(result).not.toContain('nakamoto');
    expect(result).toContain('block-9');
  });
});

describe('a satribute', () => {
  test('has a definition, as JSON and as a page', async () => {
    const { satributes: listed } = (await get('/satributes')).json<{ satributes: { id: string }[] }>();
    expect(listed.map(({ id }) => id)).toEqual(satributes.map(({ id }) => id));
    const list = (await page('/satributes')).body;
    for (const { id, title, about, version } of satributes) {
      expect((await get(`/satributes/${id}`)).json()).toMatchObject({ id, title, about, version });
      const shown = await page(`/satributes/${id}`);
      expect(shown.statusCode).toBe(200);
      expect(shown.body).toContain(`<h1>${title}</h1>`);
      expect(list).toContain(`href="/satributes/${id}"`);
    }
  });

  test('is found by each of its spellings', async () => {
    for (const name of ['block9', 'block-9']) {
      expect((await get(`/satributes/${name}`)).json()).toMatchObject({
        id: 'block9',
        spellings: ['block9', 'block-9'],
        sats: 5_000_000_000,
        ranges: [{ start: 45_000_000_000, end: 50_000_000_000 }],
        more: false,
      });
    }
  });

  test('without a known list has no sats, and gives the reason', async () => {
    expect((await get('/satributes/silkroad')).json()).toMatchObject({
      findable: false,
      sats: null,
      ranges: [],
      rule: { kind: 'unknown', why: expect.any(String) as string },
    });
  });

  test('of a payment names its outputs, and why their sats are unknown yet', async () => {
    const answer = (await get('/satributes/pizza')).json<{ rule: { why: string } }>();
    expect(answer).toMatchObject({
      version: 2,
      findable: false,
      sats: null,
      ranges: [],
      rule: {
        kind: 'provenance',
        outputs: [
          {
            txid: 'a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d',
            vout: 0,
            height: 57_043,
          },
        ],
      },
    });
    expect(answer.rule.why).toContain('still being traced');
    expect((await page('/satributes/pizza')).body).toContain('block <a href="/block/57043">57,043</a>');
  });

  test('shows the first hundred ranges of many', async () => {
    const answer = (await get('/satributes/uncommon')).json<{
      ranges: object[];
      more: boolean;
      sats: number;
    }>();
    expect(answer).toMatchObject({ more: true, sats: 6_926_535 });
    expect(answer.ranges).toHaveLength(100);
  });

  test.each([
    ['/satributes/block9?sat=45000000000', true, { start: 45_000_000_000, end: 50_000_000_000 }],
    ['/satributes/block9?sat=9.4999999999', true, { start: 45_000_000_000, end: 50_000_000_000 }],
    ['/satributes/block9?sat=50000000000', false, null],
    ['/satributes/uncommon?sat=5000000000', true, { start: 5_000_000_000, end: 5_000_000_001 }],
    ['/satributes/jpeg?sat=151700000000000', true, { start: 151_700_000_000_000, end: 151_705_000_000_000 }],
    ['/satributes/hitman?sat=5', null, null],
    ['/satributes/pizza?sat=5', null, null],
  ])('%s explains', async (url, has, range) => {
    const { explain } = (await get(url)).json<{ explain: object }>();
    expect(explain).toMatchObject({ has, range });
    expect((await page(url)).body).toContain(
      has === null ? '>unknown</span>' : has ? '>yes</span>' : '>no</span>',
    );
  });

  test('explains no sat by default', async () => {
    expect((await get('/satributes/block9?sat=')).json()).not.toHaveProperty('explain');
    expect((await page('/satributes/pizza?sat=1')).body).toContain('It is unknown whether sat');
  });

  test.each([
    ['/satributes/common', 404, 'not_found'],
    ['/satributes/Uncommon', 404, 'not_found'],
    ['/satributes/block9?sat=-1', 400, 'request_invalid'],
    ['/satributes/block9?sats=1', 400, 'parameter_unknown'],
    ['/sat/2099999997690000/satributes', 400, 'request_invalid'],
  ])('%s is %i', async (url, status, code) => {
    const answer = await get(url);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ status: 'error', code });
  });
});

describe('/sat/<sat>/satributes', () => {
  test('lists the satributes of a sat, and unknown ones', async () => {
    const answer = (await get('/sat/45000000000/satributes')).json<Explained>();
    expect(answer.sat).toBe(45_000_000_000);
    expect(answer.satributes.map(({ id }) => id)).toEqual([
      'uncommon',
      'block9',
      'vintage',
      'first-transaction',
      'nakamoto',
      'block9_450x',
      'coin',
      'alpha',
    ]);
    expect(answer.satributes[2]).toEqual({
      id: 'vintage',
      version: 1,
      about: expect.any(String) as string,
      range: { start: 0, end: 5_000_000_000_000 },
    });
    expect(answer.unknown.map(({ id }) => id)).toEqual(['pizza', 'hitman', 'silkroad', 'legacy']);
  });

  test('leaves out satributes of another network', async () => {
    const answer = (
      await get(`/sat/${encodeURIComponent('0°9′9″0‴')}/satributes`, regtest)
    ).json<Explained>();
    expect(answer.satributes.map(({ id }) => id)).not.toContain('nakamoto');
    expect(answer.unknown).toEqual([]);
  });
});
