import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf, type RowSpec } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const rows: RowSpec[] = Array.from({ length: 40 }, (_, place) => ({
  name: `together ${place}`,
  body: `body ${place}`,
  number: place,
  ...(place % 3 === 0 ? {} : { parents: [idOf('together 0')], metaprotocol: `protocol ${place}` }),
  ...(place % 5 === 0 ? { properties: `{"gallery":[],"attributes":{"title":"${place}","traits":{}}}` } : {}),
  // more properties than are read together with others
  ...(place === 7
    ? { properties: `{"gallery":[],"attributes":{"title":"${'long '.repeat(8000)}","traits":{}}}` }
    : {}),
  ...(place % 4 === 0 ? { delegate: idOf('together 1') } : {}),
}));

let http: HttpApp;
let connections = 0;

beforeAll(async () => {
  // no response is stored, so each response is read
  http = await createHttpApp([{ height: 0, rows }], { shared: { tipAnswers: null } });
  http.database.readers.on('acquire', () => {
    connections++;
  });
});
afterAll(() => http.close());

const missing = idOf('in no block');
const paths = [
  ...rows.flatMap(({ name, number }) => [
    `/inscription/${idOf(name)}`,
    `/inscription/${String(number)}`,
    `/r/inscription/${idOf(name)}`,
  ]),
  `/inscription/${missing}`,
  `/r/inscription/${missing}`,
  '/inscription/-1',
  '/inscription/2147483647',
  '/inscription/-0',
  `/inscription/${missing.slice(0, 64)}i2147483647`,
];

async function answerOf(url: string): Promise<readonly [string, number, string]> {
  const { statusCode, body } = await http.app.inject({ url, headers: { accept: 'application/json' } });
  return [url, statusCode, body];
}

test('each gets the same answer as alone', async () => {
  const alone: (readonly [string, number, string])[] = [];
  for (const path of paths) alone.push(await answerOf(path));
  expect(alone.filter(([, status]) => status === 200)).toHaveLength(3 * rows.length + 1);
  expect(alone.find(([url]) => url === '/inscription/7')?.[2]).toContain('long long');
  connections = 0;
  expect(await Promise.all(paths.map(answerOf))).toEqual(alone);
  // long properties of inscriptions are read on separate connections
  expect(connections).toBeLessThan(paths.length / 4);
});
