import { readFileSync } from 'node:fs';
import { bech32 } from '@scure/base';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';

export const text = 'data:text/plain;base64,aGVsbG8=';
export const file = { name: 'a.txt', size: 5, dataURL: text };
export const good = { files: [file], receiveAddress: addressOf(700), fee: 2 };
export const id = `${'ab'.repeat(32)}i0`;
export const parent = { inscriptionId: id, returnAddress: addressOf(701), value: 10_000 };
const p2pkh = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
export const receiver = addressOf(700);
/** An address of version 1 with the checksum of version 0 (BIP 350). */
const oldChecksum = bech32.encode('bcrt', [1, ...bech32.toWords(scriptOf(700).slice(2))]);
const json = (value: unknown): string =>
  `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`;
const jsonText = (text: string): string =>
  `data:application/json;base64,${Buffer.from(text).toString('base64')}`;
const fixture = (name: string): string => readFileSync(`test/fixtures/orders/${name}`, 'utf8');
const nulBodies = JSON.parse(fixture('nul-bodies.json')) as Readonly<Record<string, object>>;
export const dataUrls = JSON.parse(fixture('data-urls.json')) as Readonly<Record<string, string>>;
const offCurve = fixture('off-curve-addresses.txt').trim().split('\n');
/** A data URL that decodes to 51 MB. */
const huge = `data:text/plain;base64,${'A'.repeat(68_000_000)}`;

export interface BadInput {
  readonly name: string;
  readonly body: object;
  /** Words of the first fault. */
  readonly says: string;
  /** `orders` if only an order has the fault. Absent if a price has the fault too. */
  readonly only?: 'orders';
}

/** Orders that are refused, each with its first fault. */
export const badInputs: readonly BadInput[] = [
  {
    name: '10,001 files',
    body: { ...good, files: Array.from({ length: 10_001 }, () => file) },
    says: 'files and delegates are 10001, but an order has at most 10000',
  },
  {
    name: '51 MB',
    body: { ...good, files: [{ name: 'a.txt', size: 1, dataURL: huge }] },
    says: 'files have 51000000 bytes in data URLs, but one request may have at most 50000000',
  },
  {
    name: 'neither files nor delegates',
    body: { ...good, files: undefined },
    says: 'An order needs files or delegates.',
  },
  {
    name: 'an unknown satribute',
    body: { ...good, allowedSatributes: ['uncommon', 'shiny'] },
    says: 'allowedSatributes[1]: shiny is not a satribute. GET /satributes lists all satributes.',
  },
  {
    name: 'a satribute whose sats are not listed',
    body: { ...good, allowedSatributes: ['legacy'] },
    says: 'allowedSatributes[0]: it is unknown which sats are legacy.',
  },
  {
    name: 'a satribute of another network',
    body: { ...good, allowedSatributes: ['nakamoto'] },
    says: 'allowedSatributes[0]: no sat of regtest is nakamoto.',
  },
  {
    name: 'a satribute without a name',
    body: { ...good, allowedSatributes: [null] },
    says: 'allowedSatributes[0] is required.',
  },
  { name: 'no files', body: { ...good, files: [] }, says: 'An order needs files or delegates.' },
  {
    name: 'receivers of another count',
    body: { ...good, files: [file, file, file], receiveAddress: [receiver, receiver] },
    says: 'receiveAddress has 2 addresses, but must have one, or one for each of the 3 files.',
  },
  {
    name: 'an empty receiver',
    body: { ...good, receiveAddress: '' },
    says: 'receiveAddress is required.',
    only: 'orders',
  },
  {
    name: 'an empty list of receivers',
    body: { ...good, receiveAddress: [] },
    says: 'receiveAddress is required.',
    only: 'orders',
  },
  {
    name: 'an address in mixed case',
    body: { ...good, receiveAddress: `${receiver.slice(0, -1)}${receiver.slice(-1).toUpperCase()}Q` },
    says: 'receiveAddress ',
  },
  {
    name: 'version 1 with the checksum of version 0',
    body: { ...good, receiveAddress: oldChecksum },
    says: 'receiveAddress ',
  },
  {
    name: 'an address of another network',
    body: { ...good, receiveAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    says: 'receiveAddress ',
  },
  {
    name: 'an anchor',
    body: { ...good, receiveAddress: 'bcrt1pfeesnyr2tx' },
    says: 'receiveAddress is an anchor, which anybody can spend',
  },
  {
    name: 'an anchor, although it is not used',
    body: { ...good, burnAfterInscribe: true, receiveAddress: 'bcrt1pfeesnyr2tx' },
    says: 'receiveAddress is an anchor, which anybody can spend',
  },
  {
    name: 'more than an anchor may hold',
    body: {
      ...good,
      burnAfterInscribe: true,
      batchMode: 'shared-output',
      postage: 10_000,
      files: [file, file],
    },
    says: 'burnAfterInscribe can put at most 10000 sats into one output, but this order needs 20000. Use batchMode separate-outputs, or less postage.',
  },
  {
    name: 'a special sat that would be burned',
    body: { ...good, burnAfterInscribe: true, allowedSatributes: ['uncommon'] },
    says: 'allowedSatributes is not possible with burnAfterInscribe, because the special sat would be burned.',
  },
  { name: 'an OP_RETURN', body: { ...good, receiveAddress: '6a0568656c6c6f' }, says: 'receiveAddress ' },
  {
    name: 'a postage of 329',
    body: { ...good, postage: 329 },
    says: 'postage must be from 330 to 10000 sats.',
  },
  {
    name: 'a postage of 10,001',
    body: { ...good, postage: '10001' },
    says: 'postage must be from 330 to 10000 sats.',
  },
  {
    name: 'a postage that is dust',
    body: { ...good, postage: 545, receiveAddress: p2pkh },
    says: 'postage of 545 sats is dust, because nodes relay at least 546 sats to a P2PKH address.',
  },
  {
    name: 'a fee of 0',
    body: { ...good, fee: 0 },
    says: 'fee must be from 0.1 to 10000 sats per virtual byte.',
  },
  { name: 'a fee of 0.0001', body: { ...good, fee: 0.0001 }, says: 'fee has more than three decimals' },
  {
    name: 'a fee of 1e9',
    body: { ...good, fee: 1e9 },
    says: 'fee must be from 0.1 to 10000 sats per virtual byte.',
  },
  { name: 'a fee that is not a number', body: { ...good, fee: 'NaN' }, says: 'fee must be a number above 0' },
  {
    name: 'an additional fee without a referral',
    body: { ...good, additionalFee: 100 },
    says: 'additionalFee is only valid with a referral',
  },
  {
    name: 'an unknown referral',
    body: { ...good, referral: 'unknown' },
    says: 'The referral unknown is unknown. Register it with POST /referrals.',
    only: 'orders',
  },
  {
    name: 'a prefix of 5',
    body: { ...good, inscriptionIdPrefix: 'abcde' },
    says: 'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
  },
  {
    name: 'a prefix in upper case',
    body: { ...good, inscriptionIdPrefix: 'AB' },
    says: 'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
  },
  {
    name: 'a delegate in upper case',
    body: { ...good, delegates: [{ delegateId: id.toUpperCase() }] },
    says: 'delegates[0].delegateId is not an inscription id, which has the form <txid>i<index> in lower case',
  },
  {
    name: 'a delegate that the index does not have',
    body: { ...good, delegates: [{ delegateId: id }] },
    says: `The delegate ${id} is not an inscription`,
    only: 'orders',
  },
  {
    name: 'a parent in upper case',
    body: { ...good, parents: [{ ...parent, inscriptionId: id.toUpperCase() }] },
    says: 'parents[0].inscriptionId is not an inscription id, which has the form <txid>i<index> in lower case',
  },
  {
    name: 'a parent twice',
    body: { ...good, parents: [parent, parent] },
    says: `Parent ${id} is named twice.`,
  },
  {
    name: 'a parent below dust',
    body: { ...good, parents: [{ ...parent, value: 300 }] },
    says: `The value of parent ${id} is 300 sats, but nodes relay at least 330`,
  },
  {
    name: 'uncurseIt with two parents',
    body: {
      ...good,
      uncurseIt: true,
      parents: [parent, { ...parent, inscriptionId: `${'cd'.repeat(32)}i0` }],
    },
    says: 'uncurseIt is not possible with more than one parent',
  },
  {
    name: 'uncurseIt in a shared output',
    body: { ...good, uncurseIt: true, files: [file, file], batchMode: 'shared-output' },
    says: 'uncurseIt is not possible with batchMode shared-output',
  },
  {
    name: 'uncurseIt with long metadata',
    body: { ...good, uncurseIt: true, files: [{ ...file, metadataDataURL: json('x'.repeat(600)) }] },
    says: 'uncurseIt is not possible with more than 520 bytes of metadata (file 1)',
  },
  {
    name: 'metadata that is not JSON',
    body: { ...good, files: [{ ...file, metadataDataURL: text }] },
    says: 'files[0].metadataDataURL is not JSON in UTF-8',
  },
  {
    name: 'a metaprotocol that is not UTF-8',
    body: { ...good, files: [{ ...file, metaprotocol: '\ud800' }] },
    says: 'files[0].metaprotocol is not valid Unicode',
  },
  {
    name: 'a data URL without data',
    body: { ...good, files: [{ ...file, dataURL: 'data:text/plain' }] },
    says: 'files[0].dataURL must have the form data:<media type>;base64,<data>',
  },
  {
    name: 'junk in place of base64',
    body: { ...good, files: [{ ...file, dataURL: dataUrls['junk'] }] },
    says: 'files[0].dataURL is not base64, because "@" is not one of its characters',
  },
  {
    name: 'base64 whose plus signs became blanks',
    body: { ...good, files: [{ ...file, dataURL: dataUrls['plusAsBlank'] }] },
    says: 'files[0].dataURL is not clearly base64, because its spaces may have been plus signs',
  },
  {
    name: 'metadata that is not base64',
    body: { ...good, files: [{ ...file, metadataDataURL: dataUrls['junk'] }] },
    says: 'files[0].metadataDataURL is not base64',
  },
  {
    name: 'metadata with a number that CBOR does not have',
    body: { ...good, files: [{ ...file, metadataDataURL: jsonText('{"a":[1e400]}') }] },
    says: 'files[0].metadataDataURL has metadata that cannot be kept: a[0] is a number',
  },
  {
    name: 'metadata with a whole number above 2^64',
    body: { ...good, files: [{ ...file, metadataDataURL: jsonText('{"a":18446744073709551616}') }] },
    says: 'files[0].metadataDataURL has metadata that cannot be kept: a is a number',
  },
  {
    name: 'metadata with half of a surrogate pair in a name',
    body: { ...good, files: [{ ...file, metadataDataURL: jsonText(String.raw`{"a":{"\ud800":1}}`) }] },
    says: 'files[0].metadataDataURL has metadata that cannot be kept: the name of a field of a is not',
  },
  {
    name: 'metadata with a NUL',
    body: { ...good, files: [{ ...file, metadataDataURL: jsonText(String.raw`{"a":"\u0000"}`) }] },
    says: 'files[0].metadataDataURL has metadata that cannot be kept: a has a NUL character (U+0000)',
  },
  {
    name: 'metadata deeper than readers accept',
    body: { ...good, files: [{ ...file, metadataDataURL: jsonText('['.repeat(2000) + ']'.repeat(2000)) }] },
    says: 'files[0].metadataDataURL has metadata that cannot be kept: its value is nested deeper than 256',
  },
  ...Object.entries(nulBodies).map(([name, body]) => ({
    name: `a NUL in ${name}`,
    body,
    says: `${name in file || name === 'metaprotocol' ? `files[0].${name}` : name} has a NUL character (U+0000)`,
  })),
  {
    name: 'a NUL in the media type of a delegate',
    body: { ...good, delegates: [{ delegateId: id, dataURL: 'data:text/a\0b;base64,aGk=' }] },
    says: 'delegates[0].dataURL has a NUL character (U+0000)',
  },
  {
    name: 'a NUL in a field of answers',
    body: { ...good, delegates: [{ delegateId: id, note: { a: ['\0'] } }] },
    says: 'delegates[0].note.a[0] has a NUL character (U+0000)',
  },
  {
    name: 'half of a surrogate pair in a name of a field',
    body: { ...good, delegates: [{ delegateId: id, '\ud800': 1 }] },
    says: 'the name of a field of delegates[0] is not valid Unicode',
  },
  ...offCurve.flatMap((address): BadInput[] => {
    const says = 'is a Taproot address that no one can spend, because its key is not a point of the curve';
    return [
      {
        name: `the receiver ${address}`,
        body: { ...good, files: [file, file], receiveAddress: [receiver, address] },
        says: `receiveAddress[1] ${says}`,
      },
      {
        name: `the receiver ${address}, although it is not used`,
        body: { ...good, burnAfterInscribe: true, receiveAddress: address },
        says: `receiveAddress ${says}`,
      },
      {
        name: `a refund to ${address}`,
        body: { ...good, refundAddress: address.toUpperCase() },
        says: `refundAddress ${says}`,
      },
      {
        name: `the return address ${address} of a parent`,
        body: { ...good, parents: [{ ...parent, returnAddress: address }] },
        says: `parents[0].returnAddress ${says}`,
      },
    ];
  }),
  {
    name: 'a refund to an anchor',
    body: { ...good, refundAddress: 'bcrt1pfeesnyr2tx' },
    says: 'refundAddress is an anchor, which anybody can spend',
  },
  {
    name: 'an extension that cannot be inscribed',
    body: { ...good, files: [{ ...file, name: 'inscription.svg+xml' }] },
    says: 'files[0].name has an extension that cannot be inscribed; the extensions are ',
  },
  {
    name: 'a size of metadata without metadata',
    body: { ...good, files: [{ ...file, metadataSize: 5 }] },
    says: 'files[0].metadataSize needs a metadataUrl or a metadataDataURL in addition',
    only: 'orders',
  },
  {
    name: 'a size of a delegate’s metadata without metadata',
    body: { ...good, files: [], delegates: [{ delegateId: id, metadataSize: '5' }] },
    says: 'delegates[0].metadataSize needs a metadataUrl or a metadataDataURL in addition',
    only: 'orders',
  },
  {
    name: 'a file with an invalid URL',
    body: { ...good, files: [{ name: 'a.txt', size: 5, url: 'example.com/a.txt' }] },
    says: 'files[0].url is not a URL',
  },
  {
    name: 'metadata at a URL that is not http',
    body: { ...good, files: [{ ...file, metadataUrl: 'ipfs://a', metadataSize: 5 }] },
    says: 'files[0].metadataUrl is neither http nor https',
  },
  {
    name: 'a webhook in a private network',
    body: { ...good, webhookUrl: 'http://127.0.0.1:8080/hook' },
    says: 'webhookUrl: ',
  },
  {
    name: 'a webhook that is not http',
    body: { ...good, webhookUrl: 'ftp://example.com/hook' },
    says: 'webhookUrl: ',
  },
  {
    name: 'a refund to an unspendable address',
    body: { ...good, refundAddress: 'nowhere' },
    says: 'refundAddress ',
  },
  {
    name: 'a time of 15 minutes',
    body: { ...good, timeout: 15 },
    says: 'timeout must be a multiple of 10',
  },
  ...['files', 'delegates', 'parents'].map((name) => ({
    name: `a text instead of ${name}`,
    body: { ...good, [name]: 'x' },
    says: `${name} must be a list`,
  })),
  {
    name: 'an object instead of an address',
    body: { ...good, receiveAddress: {} },
    says: 'receiveAddress must be a text',
  },
  {
    name: 'a text instead of a file',
    body: { ...good, files: ['a.txt'] },
    says: 'files[0] must be an object',
  },
];
