import { Type } from 'typebox';

const hashForm = '^[0-9a-f]{64}$';
const hash = (description: string) => Type.String({ pattern: hashForm, description });
const units = (description: string) => Type.String({ pattern: '^[0-9]+$', description });
const asset = Type.String({ description: '`BTC`, or a rune by the txid of its etching' });
const token = Type.String({ description: '`BTC`, or the rune with spacers' });

const reservedAsset = Type.Object({
  asset,
  token,
  divisibility: Type.Integer({ description: 'decimals of display units; all amounts are in base units' }),
  liabilities: units('balances of accounts above 0'),
  debts: units('balances below 0, after a reorganisation undid payments that had already left the account'),
  fees: units('base fees of orders, which belong to no account'),
  aside: units('amount in outputs that are set aside'),
  waiting: units('amount in blocks, not credited yet'),
  held: units('amount in all outputs'),
  difference: Type.String({
    pattern: '^-?[0-9]+$',
    description: 'held - (liabilities - debts + fees + aside + waiting)',
  }),
  liabilitiesRoot: Type.Union([hash('the root of the sum tree of liabilities'), Type.Null()]),
});

/** The document of reserves. The signature of its bytes is in HTTP headers. */
export const reservesDocument = Type.Object({
  network: Type.String(),
  block: Type.Object({
    height: Type.Integer(),
    hash: hash('hash of the block at which all amounts are counted'),
  }),
  madeAt: Type.String({ format: 'date-time' }),
  assets: Type.Array(reservedAsset, { description: 'BTC, then runes, sorted by etching' }),
  outputs: Type.Object({
    count: Type.Integer(),
    addresses: Type.Integer(),
    pages: Type.Integer(),
    sha256: hash('SHA-256 of the lines of all outputs (docs/tokenpay.md)'),
  }),
});

/** A page of outputs, each with the proof of its address. */
export const reservesPage = Type.Object({
  document: hash('SHA-256 of the document'),
  message: Type.String({ description: 'the message that each proof signs' }),
  page: Type.Integer(),
  outputs: Type.Array(
    Type.Object({
      output: Type.String({ description: '<txid>:<vout>' }),
      address: Type.String(),
      sats: Type.Integer(),
      outcome: Type.Union([Type.Literal('credited'), Type.Literal('aside'), Type.Literal('waiting')]),
      runes: Type.Array(Type.Object({ asset, amount: units('base units') })),
      proof: Type.String({ description: 'BIP 322, "simple", in base64' }),
    }),
    { description: 'sorted by output over all pages' },
  ),
});

const ofAsset = { asset, token, amount: units('base units') };

/** Liabilities and debts of an account. */
export const reservesOfAccount = Type.Object({
  document: hash('SHA-256 of the document'),
  account: Type.String(),
  liabilities: Type.Array(
    Type.Object({
      ...ofAsset,
      salt: hash('known only to the account'),
      leaf: hash('SHA-256 of its lines (docs/tokenpay.md)'),
      path: Type.Array(
        Type.Object({
          side: Type.Union([Type.Literal('left'), Type.Literal('right')]),
          hash: hash('hash of the sibling node'),
          sum: units('sum of the sibling node'),
        }),
        { description: 'sibling nodes on the path to liabilitiesRoot, starting at the leaf' },
      ),
    }),
  ),
  debts: Type.Array(Type.Object(ofAsset)),
});

export const documentQuery = {
  document: Type.Optional(
    Type.String({
      acceptedForm: { pattern: hashForm },
      description: 'SHA-256 of one of the latest documents; absent: the latest',
    }),
  ),
};
