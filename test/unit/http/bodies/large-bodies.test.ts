import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { transferableSymbol, valueSymbol } from 'piscina';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import parse from '#http/bodies/parsing/body.worker.ts';
import { BodyBlocks, joinBlocks } from '#http/bodies/parsing/body-blocks.ts';
import type { StructureBounds } from '#http/bodies/parsing/body-structure.ts';
import { bodyText, liftLongTexts, longTextBytes, textBytes } from '#http/bodies/parsing/long-texts.ts';
import { parseBody } from '#http/bodies/parsing/parse-body.ts';
import { shortenPlainTexts } from '#http/bodies/parsing/plain-texts.ts';
import type { TextList } from '#http/bodies/parsing/text-list.ts';
import { TextListReader } from '#http/bodies/parsing/text-list-reader.ts';
import { batchBody, batchOf } from '#http/ord/answers/batch.ts';
import { open } from '#http/server/access/guard.ts';
import { bodyLimits, bodyStructure } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

describe('the blocks of a body', () => {
  test('hold its bytes, with any chunks, and with or without a stated length', () => {
    const chunk = fc.uint8Array({ maxLength: 40_000 });
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 60 }), fc.boolean(), (chunks, isStated) => {
        const whole = Buffer.concat(chunks);
        const body = new BodyBlocks(isStated ? whole.byteLength : 0);
        for (const each of chunks) body.append(each);
        expect(body.byteLength).toBe(whole.byteLength);
        expect(Buffer.compare(joinBlocks(body.blocks()), whole)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  test('are few for three million bytes that arrive one by one', () => {
    const body = new BodyBlocks(0);
    const one = new Uint8Array([7]);
    for (let count = 0; count < 3_000_000; count++) body.append(one);
    const blocks = body.blocks();
    expect(blocks.length).toBeLessThan(12);
    expect(blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(3_000_000);
  });
});

describe('a list of strings', () => {
  const max = 1000;
  /** Returns what a reader makes of bytes in chunks of these sizes: the texts, or the fault. */
  async function read(bytes: Buffer, sizes: readonly number[] = [], most = max): Promise<unknown> {
    const reader = new TextListReader(most, () => undefined);
    let start = 0;
    for (const size of sizes) reader.append(bytes.subarray(start, (start += size)));
    reader.append(bytes.subarray(start));
    const parsed = await reader.end();
    return parsed.ok ? [...(parsed.value as TextList).parts(7)].flat() : parsed.message;
  }
  const sizes = fc.array(fc.nat(40), { maxLength: 30 });
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary', maxLength: 500 }));

  test('is returned in parts, with any characters, and with any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text), sizes, fc.boolean(), async (texts, chunks, isSpaced) => {
        const json = JSON.stringify(texts, null, isSpaced ? '\t\r\n ' : '');
        expect(await read(Buffer.from(json), chunks)).toEqual(
          texts.map((each) => Buffer.from(each).toString()),
        );
      }),
    );
  });

  test('is the same as parsed JSON, with any bytes changed', async () => {
    const expected = (bytes: Buffer): unknown => {
      try {
        const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
        if (!Array.isArray(value)) return 'the body is not an array';
        return value.every((item) => typeof item === 'string')
          ? value.map((item: string) => Buffer.from(item).toString())
          : 'an item of the body is not a string';
      } catch {
        return null;
      }
    };
    const change = fc.tuple(
      fc.nat(200),
      fc.oneof(fc.constantFrom(...Buffer.from('"\\[]{},u0 n')), fc.nat(255)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 8 }),
        fc.array(change, { maxLength: 3 }),
        sizes,
        async (texts, changes, chunks) => {
          const bytes = Buffer.from(JSON.stringify(texts));
          for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
          const got = await read(bytes, chunks);
          const wanted = expected(bytes);
          // if the text is not JSON, an earlier part may already have been refused
          if (wanted === null) expect(typeof got).toBe('string');
          else expect(got).toEqual(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['{}', 'the body is not an array'],
    ['["a",1]', 'an item of the body is not a string'],
    ['["a"', 'the body is not JSON'],
    ['', 'the body is not JSON'],
    ['["a",]', 'the body is not JSON'],
    ['["a"]]', 'the body is not JSON'],
    ['["a\n"]', 'the body is not JSON'],
    [String.raw`["\x"]`, 'the body is not JSON'],
    [`["${'a'.repeat(513)}"]`, 'an item of the body is longer than 512 bytes'],
    ['\ufeff ["a"]', ['a']],
    [`["${'a'.repeat(512)}"]`, ['a'.repeat(512)]],
  ])('is no other value: %s', async (json, outcome) => {
    expect(await read(Buffer.from(json))).toEqual(outcome);
  });

  test('is counted to its end if it is too long, and its texts take no room', async () => {
    let taken = 0;
    const reader = new TextListReader(10, (bytes) => {
      taken += bytes;
    });
    reader.append(Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, () => 'a'.repeat(64)))));
    expect(await reader.end()).toEqual({
      ok: false,
      message: 'request for 100000 items exceeds batch limit of 10',
    });
    expect(taken).toBeLessThan(40_000);
  });

  test('is checked up to its first wrong byte', async () => {
    let taken = 0;
    const reader = new TextListReader(500_000, (bytes) => {
      taken += bytes;
    });
    reader.append(Buffer.from(`[{"k":1},${'"a",'.repeat(100_000)}"a"]`));
    expect([await reader.end(), taken]).toEqual([
      { ok: false, message: 'an item of the body is not a string' },
      0,
    ]);
  });
});

describe('long texts', () => {
  const long = 'é'.repeat(longTextBytes / 2);

  test('become bytes anywhere, and no other value changes', () => {
    const given = { a: [long, 'short', 1, null, { b: `${long}x` }], c: long.slice(1), d: true };
    const { value, buffers } = liftLongTexts(structuredClone(given));
    expect(buffers.map(({ byteLength }) => byteLength)).toEqual([2 * longTextBytes + 1]);
    expect(value).toEqual({
      a: [
        new Uint8Array(Buffer.from(long)),
        'short',
        1,
        null,
        { b: new Uint8Array(Buffer.from(`${long}x`)) },
      ],
      c: long.slice(1),
      d: true,
    });
    expect(liftLongTexts('short')).toEqual({ value: 'short', buffers: [] });
    // of fields that are not contents, only as much is kept as proves that they are too long
    const junk = 'j'.repeat(1_000_000);
    const cut = liftLongTexts({ data: long, deep: [{ junk }] }, { names: ['data'] });
    expect(cut.value).toEqual({
      data: new Uint8Array(Buffer.from(long)),
      deep: [{ junk: new Uint8Array(Buffer.from(junk.slice(0, 4097))) }],
    });
    expect(cut.buffers[0]!.byteLength).toBe(Buffer.byteLength(long) + 4097);
    expect(liftLongTexts(long).value).toEqual(new Uint8Array(Buffer.from(long)));
    expect([textBytes(long), textBytes(Buffer.from(long) as Uint8Array<ArrayBuffer>)]).toEqual([
      longTextBytes,
      longTextBytes,
    ]);
  });
});

describe('long plain texts', () => {
  const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
  /** Parses a body with the function of the thread. The body must be freed, unless the value has views of it. */
  function parsed(
    bytes: Uint8Array<ArrayBuffer>,
    names: readonly string[],
    bounds: StructureBounds = bodyStructure.large,
  ) {
    const body = bytes.buffer;
    const result = parse({ kind: 'json', blocks: [bytes], bounds, longTexts: names }) as
      | { readonly ok: false }
      | { readonly [transferableSymbol]: ArrayBuffer[]; readonly [valueSymbol]: { readonly value: unknown } };
    const isFailed = 'ok' in result;
    const isKept = !isFailed && result[transferableSymbol].includes(body);
    if (!isKept) expect(body.byteLength).toBe(0);
    return isFailed ? result : result[valueSymbol].value;
  }
  /** Parses a body without marks. */
  function parsedWhole(bytes: Uint8Array<ArrayBuffer>, names: readonly string[]): unknown {
    const body = parseBody('json', bytes);
    return body.ok ? liftLongTexts(body.value, { names }).value : body;
  }

  test('have the same bytes as parsed texts, and the same faults, in any JSON and with any bytes changed', () => {
    const unit = fc.constantFrom('a', 'Z', ' ', '~', '"', '\\', '\n', '\u0000', '\u007f', 'é', '\ud800', '/');
    const text = fc
      .tuple(unit, fc.constantFrom(1, 2000, 4095, 4096, 9000))
      .map(([one, count]) => one.repeat(count));
    const plain = fc.nat(6000).map((count) => 'data:,'.padEnd(count, 'x'));
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, text, plain, fc.double(), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 4 }),
      object: fc.dictionary(fc.oneof(fc.constantFrom('data', 'junk', '__proto__'), plain), tie('any'), {
        maxKeys: 4,
      }),
    })).any;
    const change = fc.tuple(fc.nat(), fc.constantFrom(...Buffer.from('"\\[]{},:0 \n')));
    fc.assert(
      fc.property(value, fc.array(change, { maxLength: 2 }), fc.boolean(), (given, changes, isSpaced) => {
        const bytes = bytesOf(JSON.stringify(given, null, isSpaced ? '\t' : ''));
        for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
        const wanted = parsedWhole(bytes.slice(), ['data']);
        expect(isDeepStrictEqual(parsed(bytes.slice(), ['data']), wanted)).toBe(true);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('are freed with their body if it is refused', () => {
    const long = 'x'.repeat(8000);
    expect(parsed(bytesOf(JSON.stringify([long, 1, 2, 3])), ['data'], { marks: 2, depth: 500 })).toEqual({
      ok: false,
      message: 'the body has more than 2 brackets, commas and colons',
    });
    expect(parsed(bytesOf(`["${long}",]`), ['data'])).toEqual({ ok: false, message: 'the body is not JSON' });
    expect(parsed(bytesOf(JSON.stringify([long, '\u0000'])), ['data'])).toMatchObject({ ok: false });
  });

  test('stay views of the body if they are most of it, and are copied if not', () => {
    const data = 'x'.repeat(8000);
    const share = (junk: string): readonly [boolean, unknown] => {
      const bytes = bytesOf(JSON.stringify({ data, junk }));
      const { bytes: short, texts } = shortenPlainTexts(bytes);
      expect(short.byteLength).toBeLessThan(300);
      const { value, buffers } = liftLongTexts(JSON.parse(Buffer.from(short).toString()), {
        names: ['data'],
        marked: texts,
      });
      expect(buffers).toHaveLength(1);
      return [buffers[0] === bytes.buffer, value];
    };
    expect(share('short')).toEqual([true, { data: bytesOf(data), junk: 'short' }]);
    expect(share('j'.repeat(20_000))).toEqual([
      false,
      { data: bytesOf(data), junk: bytesOf('j'.repeat(4097)) },
    ]);
  });
});

describe('a route', () => {
  let app: App;
  beforeAll(async () => {
    app = createRoutesApp();
    app.register(async (scope) => {
      const schema = { summary: 'A path of a test', tags: ['test'] } as const;
      apiRoute(scope as App, {
        method: 'POST',
        url: '/test/files',
        schema: {
          ...schema,
          operationId: 'testFiles',
          body: Type.Object({ files: Type.Array(Type.Object({ data: bodyText('a file') })) }),
          response: { 200: Type.Object({ kinds: Type.Array(Type.String()), bytes: Type.Integer() }) },
        },
        config: { errors: 'orderWrite', guard: open, longTexts: true },
        bodyLimit: bodyLimits.order,
        handler: async ({ body: { files } }) => ({
          kinds: files.map(({ data }) => typeof data),
          bytes: files.reduce((sum, { data }) => sum + textBytes(data), 0),
        }),
      });
      apiRoute(scope as App, {
        method: 'POST',
        url: '/test/texts',
        schema: {
          ...schema,
          operationId: 'testTexts',
          body: batchBody({}, 100_000),
          response: { 200: Type.Object({ count: Type.Integer(), last: Type.String() }) },
        },
        config: { errors: 'plain', guard: open, body: 'texts', textsMax: 100_000 },
        bodyLimit: bodyLimits.batch,
        handler: async ({ body }) => {
          const texts = await batchOf(body, (text) => text);
          return { count: texts.length, last: texts.at(-1) ?? '' };
        },
      });
    });
    await app.ready();
  }, 120_000);
  afterAll(() => app.close());

  const post = (url: string, payload: object) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
    });

  test('with long texts gets them as bytes from a large body, and as texts from a small one', async () => {
    const large = await post('/test/files', { files: [{ data: 'a'.repeat(2_000_000) }, { data: 'bc' }] });
    expect(large.json()).toEqual({ kinds: ['object', 'string'], bytes: 2_000_002 });
    const small = await post('/test/files', { files: [{ data: 'a'.repeat(20_000) }] });
    expect(small.json()).toEqual({ kinds: ['string'], bytes: 20_000 });
    const wrong = await post('/test/files', { files: [{ data: 1 }] });
    expect([wrong.statusCode, wrong.json()]).toEqual([
      400,
      { error: [{ msg: 'files[0].data must be a text' }] },
    ]);
  });

  test('with a list of texts reads large and small ones in the same way, and refuses too many texts', async () => {
    const texts = (count: number): string[] =>
      Array.from({ length: count }, (_, place) => `${place}`.padStart(20));
    for (const count of [3, 60_000]) {
      const answer = await post('/test/texts', texts(count));
      expect(answer.json()).toEqual({ count, last: `${count - 1}`.padStart(20) });
    }
    const tooMany = await post('/test/texts', texts(100_001));
    expect([tooMany.statusCode, tooMany.json<{ error: string }>().error]).toEqual([
      400,
      'request for 100001 items exceeds batch limit of 100000',
    ]);
  });
});
