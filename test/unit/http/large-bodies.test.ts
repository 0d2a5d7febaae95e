import fc from 'fast-check';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BodyBlocks, joinBlocks } from '#http/bodies/body-blocks.ts';
import { bodyText, liftLongTexts, longTextBytes, textBytes } from '#http/bodies/long-texts.ts';
import { parseBody } from '#http/bodies/parse-body.ts';
import { packTexts, textParts } from '#http/bodies/text-list.ts';
import { batchBody, batchOf } from '#http/ord/batch.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App } from '#http/server/app-dependencies.ts';
import { open } from '#http/server/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { createRoutesApp } from '#test/support/routes-app.ts';

describe('the blocks of a body', () => {
  test('hold its bytes, whatever the chunks, and whether its length was stated', () => {
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

  test('are few for three million bytes that come one by one', () => {
    const body = new BodyBlocks(0);
    const one = new Uint8Array([7]);
    for (let count = 0; count < 3_000_000; count++) body.append(one);
    const blocks = body.blocks();
    expect(blocks.length).toBeLessThan(12);
    expect(blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(3_000_000);
  });
});

describe('a list of strings', () => {
  test('is given back in parts, with any characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 7 }),
        (texts, size) => {
          const parts = [...textParts(packTexts(texts), size)];
          expect(parts.flat()).toEqual(texts);
          for (const part of parts.slice(0, -1)) expect(part).toHaveLength(size);
        },
      ),
    );
  });

  test.each([
    ['{}', 'the body is not an array'],
    ['["a",1]', 'an item of the body is not a string'],
    ['["a"', 'the body is not JSON'],
  ])('is nothing else: %s', (text, message) => {
    expect(parseBody('texts', Buffer.from(text))).toEqual({ ok: false, message });
  });
});

describe('long texts', () => {
  const long = 'é'.repeat(longTextBytes / 2);

  test('become bytes wherever they are, and no other value changes', () => {
    const given = { a: [long, 'short', 1, null, { b: `${long}x` }], c: long.slice(1), d: true };
    const { value, buffer } = liftLongTexts(structuredClone(given));
    expect(buffer?.byteLength).toBe(2 * longTextBytes + 1);
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
    expect(liftLongTexts('short')).toEqual({ value: 'short', buffer: null });
    expect(liftLongTexts(long).value).toEqual(new Uint8Array(Buffer.from(long)));
    expect([textBytes(long), textBytes(Buffer.from(long) as Uint8Array<ArrayBuffer>)]).toEqual([
      longTextBytes,
      longTextBytes,
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
        config: { errors: 'plain', guard: open, body: 'texts' },
        bodyLimit: bodyLimits.batch,
        handler: async ({ body }) => {
          const texts = await batchOf(body, 100_000, (text) => text);
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

  test('with long texts takes them as bytes from a large body, and as texts from a small one', async () => {
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

  test('that takes a list of texts reads a large and a small one alike, and refuses too many', async () => {
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
