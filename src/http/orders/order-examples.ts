import { exampleId } from '#http/parameters/list-parameters.ts';
import type { Examples } from './order-body.schemas.ts';

const receiveAddress = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
const otherAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const hello = { name: 'hello.txt', dataURL: 'data:text/plain;base64,aGVsbG8=' };
const picture = {
  name: 'square.svg',
  dataURL: `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>').toString('base64')}`,
};
const parent = { inscriptionId: exampleId, returnAddress: receiveAddress, value: 10_000 };

const oneFile = { summary: 'one file', value: { files: [hello], receiveAddress, fee: 5 } };

/** Examples of all kinds of contents, and of their receive addresses. */
const contents: Examples = {
  oneFile,
  addresses: {
    summary: 'an address for each file',
    value: { files: [hello, picture], receiveAddress: [receiveAddress, otherAddress], fee: '5' },
  },
  url: {
    summary: 'a file at a URL, with metadata',
    value: {
      files: [
        {
          name: 'cube.html',
          size: 557,
          url: 'https://files.example.com/cube.html',
          metadataDataURL: `data:application/json;base64,${Buffer.from('{"title":"cube"}').toString('base64')}`,
        },
      ],
      receiveAddress,
      fee: 5,
    },
  },
  delegates: {
    summary: 'a delegate',
    value: { delegates: [{ delegateId: exampleId }], receiveAddress, fee: 5 },
  },
  parents: {
    summary: 'a child of an inscription',
    value: { files: [hello], parents: [parent], receiveAddress, fee: 5 },
  },
  satributes: {
    summary: 'on an uncommon sat of the payment',
    value: { files: [hello], allowedSatributes: ['uncommon'], receiveAddress, fee: 5 },
  },
};

/** Example of an order with a refund address and a webhook. */
const named: Examples = {
  terms: {
    summary: 'in brotli, with a refund address and a webhook',
    value: {
      files: [picture],
      receiveAddress,
      fee: '2.5',
      postage: 546,
      compress: true,
      inscriptionIdPrefix: '0',
      timeout: 1440,
      refundAddress: otherAddress,
      webhookUrl: 'https://shop.example.com/hooks/7',
      projectTag: 'squares',
    },
  },
};

/** Examples for operators with an inventory. */
const inventory: Examples = {
  inventory: {
    summary: 'on an uncommon sat of the inventory',
    value: { files: [hello], rareSats: 'uncommon', receiveAddress, fee: 5 },
  },
};

const texts = { texts: ['hello', 'gm'], receiveAddress, fee: 5 };

const rune = {
  rune: 'SATSCRIBE•EXAMPLE',
  symbol: '¤',
  divisibility: 2,
  premine: 1_000,
  terms: { amount: 10, cap: 2_000 },
  supply: 21_000,
  turbo: true,
};
/** Examples of etchings. No block and no other order has taken the names when an example is sent. */
const etchings: Examples = {
  rune: {
    summary: 'a rune with a premine, open for mints by anyone',
    value: { ...rune, receiveAddress, fee: 5 },
  },
  inscribed: {
    summary: 'with a file, and mints only in some blocks',
    value: {
      rune: 'SATSCRIBE•PICTURE',
      symbol: '◳',
      terms: { amount: '0.5', cap: 100, offset: { start: 6, end: 1_000 } },
      divisibility: 1,
      files: [picture],
      receiveAddress,
      refundAddress: otherAddress,
      fee: '3',
    },
  },
  unnamed: {
    summary: 'a rune whose name ord assigns',
    value: { premine: '340282366920938463463374607431768211455', receiveAddress, fee: 5 },
  },
};

/** Example of mints of a rune that anyone can mint. */
const mints: Examples = {
  mints: {
    summary: 'ten mints of a rune',
    value: { rune: 'UNCOMMON•GOODS', numberOfMints: 10, receiveAddress, fee: 5, lowPostage: true },
  },
};

/** Examples of the bodies that create orders, by the kind of their path. */
export const creationExamples = {
  direct: { ...contents, ...named, ...inventory },
  managed: {
    ...contents,
    ...named,
    parent: { summary: 'a single parent', value: { files: [hello], parent, receiveAddress, fee: 5 } },
  },
  etching: etchings,
  mint: mints,
  texts: {
    texts: { summary: 'two texts', value: texts },
    shared: {
      summary: 'two texts in one output',
      value: { ...texts, batchMode: 'shared-output', lowPostage: true },
    },
  },
} as const satisfies Readonly<Record<string, Examples>>;

/** Turns examples of orders into examples of requests for a price. The names stay the same. */
const priced = (type: 'bulk' | 'direct' | 'rune-etch' | 'rune-mint', examples: Examples): Examples =>
  Object.fromEntries(
    Object.entries(examples).map(([name, { summary, value }]) => [
      name,
      { summary, value: { type, order: value } },
    ]),
  );

export const priceExamples: Examples = {
  sizes: {
    summary: 'only by the size of a file',
    value: { type: 'direct', order: { files: [{ name: 'cube.html', size: 557 }], receiveAddress, fee: 5 } },
  },
  ...priced('direct', creationExamples.direct),
  managed: { summary: 'one file of a managed order', value: { order: oneFile.value } },
  ...priced('bulk', creationExamples.texts),
  ...priced('rune-etch', creationExamples.etching),
  ...priced('rune-mint', creationExamples.mint),
};
