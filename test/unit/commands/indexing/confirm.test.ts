import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { UsageError } from '#src/app/command-context.ts';
import { confirm } from '#src/commands/indexing/confirm.ts';

interface Asked {
  readonly outcome: unknown;
  readonly shown: string;
}

/** The outcome when a terminal gets this input for a question. `null` closes the terminal. */
async function answered(typed: string | null, isTTY = true): Promise<Asked> {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  const asked = confirm('This takes back blocks.', { input, output, signal: new AbortController().signal });
  if (typed === null) input.end();
  else input.write(`${typed}\n`);
  const outcome = await asked.then(
    () => 'confirmed',
    (error: unknown) => error,
  );
  output.end();
  return { outcome, shown: (await output.toArray()).join('') };
}

test.each(['yes', ' YES '])('%j confirms', async (typed) => {
  const { outcome, shown } = await answered(typed);
  expect(outcome).toBe('confirmed');
  expect(shown).toContain('This takes back blocks. Type yes to continue: ');
});

test.each(['', 'y', 'no', 'yes please', null])('%j does not', async (typed) => {
  expect((await answered(typed)).outcome).toMatchObject({ code: 'not_confirmed' });
});

test('without a terminal, --yes is asked for, whatever the input has', async () => {
  const { outcome, shown } = await answered('yes', false);
  expect(outcome).toBeInstanceOf(UsageError);
  expect((outcome as UsageError).message).toContain('--yes');
  expect(shown).toBe('');
});

test('a question ends with the process', async () => {
  const end = new AbortController();
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const asked = confirm('Continue?', { input, output: new PassThrough(), signal: end.signal });
  end.abort();
  await expect(asked).rejects.toThrow();
});
