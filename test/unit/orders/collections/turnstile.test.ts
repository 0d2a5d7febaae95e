import { expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { turnstile } from '#orders/collections/turnstile.ts';
import type { OutgoingAnswer } from '#outgoing/outgoing-http.ts';

const here = new AbortController().signal;
const url = 'http://turnstile.test/siteverify';

/** Replaces the server of Turnstile in tests. */
function checking(answer: { status?: number; body: string } | AppError) {
  const asked: URLSearchParams[] = [];
  const post = async (to: string, { body }: { readonly body: Uint8Array }): Promise<OutgoingAnswer> => {
    expect(to).toBe(url);
    asked.push(new URLSearchParams(Buffer.from(body).toString()));
    if (answer instanceof AppError) throw answer;
    return { status: answer.status ?? 200, bytes: Buffer.from(answer.body) };
  };
  return { asked, check: turnstile({ post }, 'the secret', { url }) };
}

const refused = (code: string) => ({ body: JSON.stringify({ success: false, 'error-codes': [code] }) });

test('a solved challenge passes, and Turnstile is asked as its documentation says', async () => {
  const { asked, check } = checking({ body: '{"success":true}' });
  expect(await check.problemOf('a token', '10.0.0.1', here)).toBeNull();
  expect(Object.fromEntries(asked[0]!)).toEqual({
    secret: 'the secret',
    response: 'a token',
    remoteip: '10.0.0.1',
  });
});

test('a token that was used before, or is not valid, is refused', async () => {
  const used = checking(refused('timeout-or-duplicate')).check;
  expect(await used.problemOf('a token', '10.0.0.1', here)).toContain('used before');
  const invalid = checking({ ...refused('invalid-input-response'), status: 400 }).check;
  expect(await invalid.problemOf('a token', '10.0.0.1', here)).toContain('invalid');
  const long = checking({ body: '{"success":true}' });
  expect(await long.check.problemOf('x'.repeat(2049), '10.0.0.1', here)).toContain('invalid');
  expect(long.asked).toEqual([]);
});

test.each([
  ['no answer', new AppError('url_unreachable', 'it is silent')],
  ['a failure', { status: 500, body: 'oops' }],
  ['no JSON', { body: '<html>' }],
  ['a list', { body: '[]', status: 502 }],
  ['a secret of another site', refused('invalid-input-secret')],
])('%s of Turnstile is an outage, without the secret in its message', async (_name, answer) => {
  const found = checking(answer).check.problemOf('a token', '10.0.0.1', here);
  await expect(found).rejects.toMatchObject({ code: 'token_check_away' });
  await expect(found).rejects.not.toThrow(/the secret/u);
});
