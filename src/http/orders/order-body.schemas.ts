import { type TSchema, Type } from 'typebox';
import { inventoryTypes } from '#inventory/inventory-types.ts';

type Form = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, TSchema>>;

/**
 * Example requests of the API document, by name. The server accepts each request unchanged. A test sends all of them.
 */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/**
 * The schema of the accepted values of a field, only for the API document. The function that reads the field refuses
 * other values with its own messages. This function also accepts numbers as texts, because clients send such texts.
 */
export const accepted = (description: string, form: Form): TSchema =>
  Type.Optional(Type.Unknown({ description, acceptedForm: form }));

const numeric = (most: string): Form => ({
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: `^[0-9]{1,${most}}$` },
  ],
});
const amount = (description: string): TSchema => accepted(description, numeric('15'));
const text = (description: string): TSchema => accepted(description, { type: 'string' });
const flag = (description: string): TSchema => accepted(description, { type: 'boolean' });
const texts = (description: string): TSchema =>
  accepted(description, { type: 'array', items: { type: 'string' } });
const rate: Form = {
  anyOf: [
    { type: 'number', minimum: 0.1, maximum: 10_000 },
    { type: 'string', pattern: String.raw`^[0-9]{1,4}(\.[0-9]{1,3})?$` },
  ],
};
const object = (properties: Fields, required: readonly string[]): Form => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});

/** Purpose of a body. If the purpose is `price`, contents may be sizes, and addresses may be missing. */
type Purpose = 'order' | 'price';

const metadata = (purpose: Purpose): Fields => ({
  metadataUrl: text(
    purpose === 'price' ? 'URL of JSON; needs metadataSize too' : 'URL of JSON, fetched at once',
  ),
  metadataDataURL: text(
    'JSON as data:application/json;base64,…; used instead of metadataUrl if both are sent',
  ),
  metadataSize: amount('bytes of the metadata; if the metadata is sent, it is counted again'),
  metaprotocol: text('written into the inscription, at most 520 bytes'),
});

const files = (purpose: Purpose): TSchema => {
  const fields = {
    name: text('file name with its extension, which decides the content type'),
    size: amount('bytes of the file; if the file is sent, it is counted again'),
    dataURL: text(
      'data:<media type>;base64,<data>, or percent-encoded without ;base64; used instead of url if both are sent',
    ),
    url: text(
      purpose === 'price'
        ? 'URL of the file, which is not fetched for a price: size counts'
        : 'URL of the file, fetched at once, 4 MB at most',
    ),
    ...metadata(purpose),
  };
  const required = purpose === 'price' ? [] : ['name'];
  return accepted('files to inscribe: at most 10,000 files and delegates together', {
    type: 'array',
    items: object(fields, required),
  });
};

const delegates = (purpose: Purpose): TSchema =>
  accepted('inscriptions that show the content of another inscription', {
    type: 'array',
    items: object(
      {
        delegateId: text('id of the inscription whose content is shown'),
        dataURL: text('additional content of the new inscription'),
        ...metadata(purpose),
      },
      ['delegateId'],
    ),
  });

const parent = (purpose: Purpose): Form =>
  object(
    {
      inscriptionId: text('id of the parent'),
      returnAddress: text('address to which the parent returns'),
      value: amount('sats of the output that contains it'),
    },
    purpose === 'price' ? ['inscriptionId'] : ['inscriptionId', 'returnAddress', 'value'],
  );

/** Fields that decide how an order is inscribed, and what its price depends on. */
const terms = (purpose: Purpose): Fields => ({
  receiveAddress: accepted(
    `one address, or one for each file${purpose === 'price' ? '; absent: as long as the longest' : '; not needed with burnAfterInscribe'}`,
    { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  ),
  parents: accepted('at most 100; each is sent to a deposit address, and returned', {
    type: 'array',
    items: parent(purpose),
  }),
  fee: accepted('sats per virtual byte, with at most three decimals; default 2', rate),
  postage: amount('sats of each inscription’s output, 330 to 10,000; default 546'),
  lowPostage: flag('true: the least postage that nodes relay to the receiver, if postage is absent'),
  batchMode: accepted('one output for each inscription, or one for all inscriptions', {
    enum: ['separate-outputs', 'shared-output'],
  }),
  rareSats: accepted('type of sats (/inventory), or a satribute; random: sats of the payment', {
    enum: ['random', ...inventoryTypes],
  }),
  allowedSatributes: texts(
    'the inscription is made on a sat of the payment that has one of these satributes (/satributes)',
  ),
  referral: text('referral code'),
  additionalFee: amount('sats per file for the referral account; only with referral'),
  inscriptionIdPrefix: text('1 to 4 hex characters; the ids of the inscriptions begin with them'),
  burnAfterInscribe: flag('true: the inscriptions are sent to an OP_RETURN output'),
  uncurseIt: flag('true: inscribes without the forms that were cursed before the jubilee'),
  compress: flag('true: contents are compressed with brotli if that is shorter'),
});

/** Fields that a price does not depend on. */
const others: Fields = {
  timeout: amount('minutes until the payment must arrive: a multiple of 10, at most 43,200'),
  refundAddress: text('address for refunds'),
  webhookUrl: text('URL that receives each event of the order (docs/webhooks.md)'),
  projectTag: text('any text of yours; the order shows it'),
};

const contents = (purpose: Purpose): Fields => ({
  files: files(purpose),
  delegates: delegates(purpose),
});
/** A single parent, which clients of managed orders send instead of a list. */
const oneParent = (purpose: Purpose): Fields => ({
  parent: accepted('the only parent; in place of parents', parent(purpose)),
});
const textContents: Fields = {
  texts: texts('each becomes a text file, at most 10,000; in place of files and delegates'),
};

/** Items of a collection in place of files. */
const collectionItems: Fields = {
  collection: accepted(
    'the items to buy',
    object(
      {
        id: text('id of the collection'),
        count: amount('number of items, which the service draws at random; from 1 to 1,000'),
        requestedIds: accepted('numbers of the wanted items, from 1; in place of count', {
          type: 'array',
          items: numeric('6'),
        }),
      },
      ['id'],
    ),
  ),
  token: text('token of a solved challenge (Turnstile); not needed with a key that has the scope orders'),
};

const window = (description: string): TSchema =>
  accepted(description, object({ start: numeric('20'), end: numeric('20') } as never, []));
const units: Form = {
  anyOf: [
    { type: 'number', minimum: 0 },
    { type: 'string', pattern: String.raw`^[0-9]{1,39}(\.[0-9]{1,38})?$` },
  ],
};
/** Fields of an etching. */
const etching: Fields = {
  rune: text('name of 1 to 26 capital letters, with • or . as spacers; absent: ord assigns a name'),
  symbol: text('one character'),
  divisibility: accepted('decimals, 0 to 38; default 0', {
    type: 'integer',
    minimum: 0,
    maximum: 38,
  }),
  premine: accepted('units of the rune that receiveAddress gets with the etching', units),
  terms: accepted(
    'terms by which anyone can mint; absent: no one can',
    object(
      {
        amount: accepted('units of the rune in one mint', units),
        cap: accepted('maximum number of mints', units),
        height: window('block heights with open mints'),
        offset: window('open mints, in blocks after the block of the etching'),
      },
      ['amount', 'cap'],
    ),
  ),
  turbo: flag('true: the rune opts into future changes of the protocol'),
  supply: accepted('premine + cap × amount; checked if sent', units),
};

/** Fields of mints. */
const mint: Fields = {
  rune: text('name of the rune, with • or . as spacers or without'),
  numberOfMints: accepted('number of mints, from 1 to 1,000; each is a transaction', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
  }),
};
/** Fields that decide how something is inscribed. */
const inscribing = [
  'parents',
  'batchMode',
  'rareSats',
  'allowedSatributes',
  'inscriptionIdPrefix',
  'burnAfterInscribe',
  'uncurseIt',
  'compress',
];
const mintTerms = Object.fromEntries(
  Object.entries(terms('order')).filter(([name]) => !inscribing.includes(name)),
);

/** Bodies of requests that create orders, by the kind of their path. */
export const creationBodies = {
  direct: { ...contents('order'), ...terms('order'), ...others },
  managed: { ...contents('order'), ...terms('order'), ...oneParent('order'), ...others },
  collection: { ...collectionItems, ...terms('order'), ...others },
  texts: { ...textContents, ...terms('order'), ...oneParent('order'), ...others },
  etching: { ...etching, ...contents('order'), ...terms('order'), ...oneParent('order'), ...others },
  mint: { ...mint, ...mintTerms, ...others },
} as const satisfies Readonly<Record<string, Fields>>;

/** The body of a request for a price, for an order of any kind. */
export const pricedOrder = object(
  {
    ...contents('price'),
    ...textContents,
    ...etching,
    numberOfMints: mint['numberOfMints'] as TSchema,
    ...terms('price'),
    ...oneParent('price'),
    ...others,
  },
  [],
);

/**
 * The schema of a body that creates an order, in the API document. Fields that the schema does not name are ignored.
 */
export const creationBody = (
  properties: Fields,
  description: string,
  examples: Examples,
  required: readonly string[] = [],
): TSchema =>
  Type.Unknown({
    description,
    acceptedForm: { ...object(properties, required), 'x-examples': examples },
  });
