import fc from 'fast-check';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { OwnFiles } from '#orders/files/own-files.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const pool = new pg.Pool({ max: 1 });
afterAll(() => pool.end());
const parts = { pool, files: new CustomerFiles('nowhere') };
const own = new OwnFiles(parts, ['https://files.example', 'http://127.0.0.1:7700', 'http://localhost:80']);

test.for([
  'https://files.example/files/a.txt',
  'https://FILES.example:443/files/a.txt?x=1#y',
  'http://127.0.0.1:7700/files/a%20b',
  'http://127.1:7700/files/a',
  'http://localhost/files/a/b',
  'http://localhost/content/../files/a',
  'http://localhost/files/%zz',
  'http://localhost/files/',
])('%s is the URL of a file of this service', (url) => {
  expect(own.isOwn(url)).toBe(true);
});

test.for([
  'http://files.example/files/a.txt',
  'https://files.example:8443/files/a.txt',
  'https://files.example.other.example/files/a.txt',
  'https://other.example/files/a.txt?https://files.example/files/a',
  'http://127.0.0.1:7701/files/a',
  'http://127.0.0.2:7700/files/a',
  'http://localhost/files/../content/a',
  'http://localhost/files',
  'http://localhost//files/a',
  'http://localhost/content/a',
  'file:///files/a',
  'files/a',
  '',
])('%s is not', (url) => {
  expect(own.isOwn(url)).toBe(false);
});

test('any text is decided, and without a URL of this service nothing is looked up', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), async (url) => {
      const isOwn = own.isOwn(url);
      if (!isOwn) expect((await own.find([url], AbortSignal.abort())).isEmpty).toBe(true);
    }),
    { numRuns: propertyRuns(300) },
  );
});
