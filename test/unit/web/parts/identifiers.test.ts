import { expect, test } from 'vitest';
import {
  addressLink,
  blockHashLink,
  copyButton,
  heightLink,
  inscriptionLink,
  outputLink,
  satLink,
  transactionLink,
} from '#web/parts/identifiers.ts';

const txid = '0123456789abcdef'.repeat(4);

test('an identifier links to its page, and its button copies all characters', () => {
  const { text } = transactionLink(txid);
  expect(text).toContain(`href="/tx/${txid}"`);
  expect(text).toContain('>01234567…89abcdef</a>');
  expect(text).toContain(`data-copy="${txid}"`);
  expect(transactionLink(txid, { isWhole: true }).text).toContain(`<span class="wrap">${txid}</span>`);
  expect(transactionLink(txid, { isBare: true }).text).not.toContain('button');
});

test('each kind has its path', () => {
  const hrefOf = ({ text }: { readonly text: string }) => /href="([^"]+)"/u.exec(text)?.[1];
  expect(
    [
      outputLink(`${txid}:3`),
      addressLink('bc1q'),
      heightLink(840_000),
      blockHashLink(txid),
      inscriptionLink({ id: `${txid}i0`, number: 5 }),
      satLink(7),
    ].map(hrefOf),
  ).toEqual([
    `/output/${txid}:3`,
    '/address/bc1q',
    '/block/840000',
    `/block/${txid}`,
    `/inscription/${txid}i0`,
    '/sat/7',
  ]);
  expect(outputLink(`${txid}:3`).text).toContain('>01234567…89abcdef:3</a>');
  expect(inscriptionLink({ id: `${txid}i0`, number: 5000 }).text).toContain('>#5,000</a>');
  expect(inscriptionLink({ id: `${txid}i0`, number: null }).text).toContain('>01234567…abcdefi0</a>');
});

test('a stranger’s text stays in its attribute', () => {
  expect(copyButton('"><script>').text).not.toContain('<script>');
});
