import { type TSchema, Type } from 'typebox';
import { inventoryTypes } from '#inventory/inventory-types.ts';

type Form = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, TSchema>>;

/** Requests that the document shows, by their names. Each is taken as it is: a test sends them all. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/**
 * What a reader accepts, for the document alone: it refuses with messages of its own, and takes numbers as texts too,
 * as clients send them.
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

/** `price`: contents may be sizes, and addresses may be missing. */
type Purpose = 'order' | 'price';

const metadata = (purpose: Purpose): Fields => ({
  metadataUrl: text(
    purpose === 'price' ? 'URL of JSON; needs metadataSize beside it' : 'URL of JSON, fetched at once',
  ),
  metadataDataURL: text('JSON as data:application/json;base64,…; goes before metadataUrl'),
  metadataSize: amount('bytes of the metadata; those that are there are counted again'),
  metaprotocol: text('written into the inscription, at most 520 bytes'),
});

const files = (purpose: Purpose): TSchema => {
  const fields = {
    name: text('with its extension, which decides the content type'),
    size: amount('bytes; those that are there are counted again'),
    dataURL: text('data:<media type>;base64,<data>, or percent-encoded without ;base64; goes before url'),
    url: text(purpose === 'price' ? 'not fetched for a price: size counts' : 'fetched at once, 4 MB at most'),
    ...metadata(purpose),
  };
  const required = purpose === 'price' ? [] : ['name'];
  return accepted('at most 10,000 with the delegates', {
    type: 'array',
    items: object(fields, required),
  });
};

const delegates = (purpose: Purpose): TSchema =>
  accepted('inscriptions that show the content of another one', {
    type: 'array',
    items: object(
      {
        delegateId: text('id of the inscription that is shown'),
        dataURL: text('a content of its own beside it'),
        ...metadata(purpose),
      },
      ['delegateId'],
    ),
  });

const parent = (purpose: Purpose): Form =>
  object(
    {
      inscriptionId: text('id of the parent'),
      returnAddress: text('where it goes afterwards'),
      value: amount('sats of the output that holds it'),
    },
    purpose === 'price' ? ['inscriptionId'] : ['inscriptionId', 'returnAddress', 'value'],
  );

/** Fields that say how an order is inscribed, and what its price depends on. */
const terms = (purpose: Purpose): Fields => ({
  receiveAddress: accepted(
    `one address, or one for each file${purpose === 'price' ? '; absent: as long as the longest' : '; not needed with burnAfterInscribe'}`,
    { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  ),
  parents: accepted('at most 100; each is sent to a deposit address, and returned', {
    type: 'array',
    items: parent(purpose),
  }),
  fee: accepted('sats for a virtual byte, with at most three decimals; 2 where it is absent', rate),
  postage: amount('sats of each inscription’s output, 330 to 10,000; 546 where it is absent'),
  lowPostage: flag('the least postage that nodes relay to the receiver, where no postage is named'),
  batchMode: accepted('an output for each inscription, or one for all of them', {
    enum: ['separate-outputs', 'shared-output'],
  }),
  rareSats: accepted('type of sats (/inventory), also as a satribute; random: those of the payment', {
    enum: ['random', ...inventoryTypes],
  }),
  allowedSatributes: texts('the inscription is made on a sat of the payment with one of these (/satributes)'),
  referral: text('referral code'),
  additionalFee: amount('sats a file for the referral account; only with referral'),
  inscriptionIdPrefix: text('1 to 4 hex characters with which the ids begin'),
  burnAfterInscribe: flag('the inscriptions are sent to an OP_RETURN output'),
  uncurseIt: flag('only what was not cursed before the jubilee'),
  compress: flag('brotli for contents that are sent, where it is shorter'),
});

/** Fields that a price does not depend on. */
const others: Fields = {
  timeout: amount('minutes until the payment must be there: a multiple of 10, at most 43,200'),
  refundAddress: text('where money that no delivery uses goes'),
  webhookUrl: text('what happens is sent there (docs/webhooks.md)'),
  projectTag: text('shown again with the order'),
};

const contents = (purpose: Purpose): Fields => ({
  files: files(purpose),
  delegates: delegates(purpose),
});
/** Managed orders may name one parent by itself, as their clients do. */
const oneParent = (purpose: Purpose): Fields => ({
  parent: accepted('the only parent; in place of parents', parent(purpose)),
});
const textContents: Fields = {
  texts: texts('each is a file of text, at most 10,000; instead of files and delegates'),
};

/** Items of a collection in place of files. */
const collectionItems: Fields = {
  collection: accepted(
    'what is bought',
    object(
      {
        id: text('of the collection'),
        count: amount('items, which the service draws; from 1 to 1,000'),
        requestedIds: accepted('numbers of items, from 1, in place of count', {
          type: 'array',
          items: numeric('6'),
        }),
      },
      ['id'],
    ),
  ),
  token: text('of a solved challenge (Turnstile); not needed with a key that has the scope orders'),
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
  rune: text('name of 1 to 26 capital letters, with • or . as spacers; absent: ord gives it one'),
  symbol: text('one character'),
  divisibility: accepted('decimals, 0 to 38; 0 where it is absent', {
    type: 'integer',
    minimum: 0,
    maximum: 38,
  }),
  premine: accepted('what receiveAddress gets with the etching, in units of the rune', units),
  terms: accepted(
    'by which everybody mints; absent: no one can',
    object(
      {
        amount: accepted('of one mint, in units of the rune', units),
        cap: accepted('mints there may be', units),
        height: window('heights of blocks'),
        offset: window('blocks after that of the etching'),
      },
      ['amount', 'cap'],
    ),
  ),
  turbo: flag('it opts into changes of the protocol'),
  supply: accepted('premine + cap × amount; checked where it is sent', units),
};

/** Fields of mints. */
const mint: Fields = {
  rune: text('name of the rune, with • or . as spacers or without'),
  numberOfMints: accepted('each is a transaction; from 1 to 1,000', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
  }),
};
/** Fields that say how something is inscribed. */
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

/** The body of a creation, by the kind of its path. */
export const creationBodies = {
  direct: { ...contents('order'), ...terms('order'), ...others },
  managed: { ...contents('order'), ...terms('order'), ...oneParent('order'), ...others },
  collection: { ...collectionItems, ...terms('order'), ...others },
  texts: { ...textContents, ...terms('order'), ...oneParent('order'), ...others },
  etching: { ...etching, ...contents('order'), ...terms('order'), ...oneParent('order'), ...others },
  mint: { ...mint, ...mintTerms, ...others },
} as const satisfies Readonly<Record<string, Fields>>;

/** The order of a price, of any kind. */
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

/** The body of a creation in the document. Fields that are not named are ignored. */
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
