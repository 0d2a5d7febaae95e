import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referenceEvents } from '#test/support/chain/events/event-reference.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/events.md'), 'utf8');
const inTable = (name: string): string =>
  new RegExp(`\\| ${name} \\| \`([0-9a-f]{64})\``, 'u').exec(page)?.[1] ?? '';

test('the example of the documentation is what its rules and the answers of ord give', () => {
  const text = /```text\n([^`]*)```/u.exec(page)?.[1] ?? '';
  const sha256 = createHash('sha256').update(text).digest();
  const before = Buffer.from(inTable('cumulative hash of block 157'), 'hex');
  const cumulative = createHash('sha256').update(before).update(sha256).digest('hex');
  expect(sha256.toString('hex')).toBe(inTable('sha256 of the text'));
  expect(cumulative).toBe(inTable('cumulative hash of block 158'));
  const chain = new GoldenChain('transfers-1');
  const blocks = referenceEvents(chain, chain.tips()[0]!);
  expect(blocks[157]?.cumulative).toBe(before.toString('hex'));
  expect(blocks[158]).toEqual({ height: 158, text, sha256: sha256.toString('hex'), cumulative });
});
