import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Invalid numbers, numbers that lose digits, and other values that programmers forget. */
const values = [
  'Infinity',
  'NaN',
  '1e400',
  '1e21',
  '-0',
  '',
  '2147483648',
  '4294967296',
  '9007199254740992',
  '9'.repeat(400),
  '0'.repeat(400),
  '\0',
  '__proto__',
  '%',
];

let http: HttpApp;
let document: Document;
beforeAll(async () => {
  http = await createHttpApp([
    { height: 0, rows: [{ name: 'a', body: 'a text' }] },
    { height: 1, rows: [{ name: 'b', body: 'another' }] },
  ]);
  document = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as Document;
});
afterAll(() => http.close());

/** A usual value for each other parameter of a path, so that the service also reads the odd value. */
const usual = (name: string): string =>
  /id|inscription|parent|delegate/u.test(name) ? idOf('a') : name === 'text' ? 'a' : '0';

/** URLs of a path in which one parameter has an odd value. */
function urlsOf(path: string, { parameters = [] }: Operation, value: string): string[] {
  return parameters.map(({ name, in: place }) => {
    const filled = path.replaceAll(/\{(\w+)\}/gu, (_, part: string) =>
      encodeURIComponent(place === 'path' && part === name ? value : usual(part)),
    );
    if (place !== 'query') return filled;
    const text = name === 'text' || !parameters.some((one) => one.name === 'text') ? '' : 'text=a&';
    return `${filled}?${text}${name}=${encodeURIComponent(value)}`;
  });
}

test.each(values)('%j in any parameter of any path never causes a failure of ours', async (value) => {
  const failures: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    // a stream of events does not end
    if (get === undefined || path === '/events') continue;
    for (const url of urlsOf(path, get, value)) {
      const { statusCode } = await http.app.inject(url);
      // here no mempool is followed, and no derived table is filled, so 503 is correct
      if (statusCode >= 500 && statusCode !== 503) failures.push(`${statusCode} ${url}`);
    }
  }
  expect(failures).toEqual([]);
});

test.each([
  ['/events/text/Infinity', 'height is not a whole number'],
  [`/events/text/${'9'.repeat(400)}`, 'height has too many digits'],
  [`/events/hashes?limit=${'9'.repeat(400)}`, 'limit has too many digits'],
  ['/events/text/2147483648', 'height must be <= 2147483647'],
])('%s is refused with a message', async (url, error) => {
  const answer = await http.app.inject(url);
  expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, error]);
});

test('an expected refusal is not logged as an error', async () => {
  for (const path of ['/mempool/transfers', '/mempool/inscriptions']) {
    expect((await http.app.inject(path)).statusCode).toBe(404);
  }
  expect(http.logged.filter(({ level }) => level === 'error')).toEqual([]);
});
