import { Type } from 'typebox';
import { accepted } from '#http/orders/order-body.schemas.ts';
import { strictObject } from '#http/server/routes/answer-schemas.ts';

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = <Schema extends ReturnType<typeof Type.Number>>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

const phase = {
  id: text('id of the phase, for /updatecollectionphases'),
  inscriptionsCount: orNull(
    Type.Number({ minimum: 1, description: 'items that it sells; null: all items that are left' }),
  ),
  isPublic: Type.Union([Type.Literal(0), Type.Literal(1)], {
    description: '1: anyone may buy; 0: only the addresses of its list',
  }),
  price: count('sats per item, for the creator'),
  startDate: orNull(Type.Number({ description: 'seconds since 1970, included; null: from the approval' })),
  endDate: orNull(Type.Number({ description: 'seconds since 1970, not included; null: no end' })),
  allowListCount: count('number of addresses in its list, which no answer shows'),
};

const common = {
  status: Type.Literal('ok'),
  id: text('slug'),
  name: Type.String(),
  description: Type.String(),
  creator: Type.String(),
  website: Type.Optional(Type.String()),
  banner: Type.Optional(Type.String()),
  cover: Type.Optional(Type.String()),
  twitter: Type.Optional(Type.String()),
  discord: Type.Optional(Type.String()),
  totalCount: Type.Integer({ minimum: 1, description: 'number of items' }),
  price: count('sats per item for the creator, unless its phase has another price'),
  'creator-address': Type.Optional(text('address that gets the price')),
  altPrices: Type.Optional(
    Type.Record(
      Type.String(),
      strictObject({ amount: Type.Union([Type.Number(), Type.String()]), token: Type.String() }),
      { description: 'the price of an item in a rune, in place of sats: {rune: {amount, token}}' },
    ),
  ),
  averageSize: count('average bytes of a file; 0: unknown'),
  inscribedCount: count('delivered items'),
  active: Type.Boolean({ description: 'true: an operator has approved it, and has not closed it' }),
  createdAt: Type.Integer({ description: 'time of its creation, in ms since 1970' }),
};

export const createdCollection = strictObject({
  ...common,
  apikeyhash: Type.Optional(text('SHA-256 of the key that may change it')),
  files: Type.Array(
    strictObject({ name: Type.String(), url: Type.String(), size: Type.Optional(Type.Integer()) }),
  ),
  phases: Type.Array(strictObject(phase)),
});

export const shownCollection = strictObject({
  ...common,
  serviceFee: count('sats per item for the service, in addition to the fees of every order'),
  soldCount: count('paid items'),
  reservedCount: count('items of orders that are not paid yet'),
  availableCount: count('items without an order'),
  phases: Type.Array(strictObject({ ...phase, takenCount: count('items of its orders') })),
});

export const collectionItems = Type.Array(
  strictObject({
    id: text('inscription'),
    meta: strictObject({
      name: Type.String(),
      attributes: Type.Union([
        Type.Record(Type.String(), Type.String()),
        Type.Array(strictObject({ trait_type: Type.String(), value: Type.String() })),
      ]),
    }),
  }),
);

export const allocationAnswer = strictObject({
  phases: Type.Array(
    strictObject({
      phaseId: Type.String(),
      public: Type.Union([Type.Literal(0), Type.Literal(1)]),
      allocation: Type.Integer({
        minimum: -1,
        description: 'items that the address may buy; -1: no limit, 0: not listed',
      }),
      inscribedCount: count('items that were delivered to the address'),
      paidItemCount: count('items that the address has paid for'),
    }),
  ),
});

const string = { type: 'string' };
const number = {
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]{1,15}$' },
  ],
};
const allowList = {
  type: 'object',
  additionalProperties: { type: 'object', properties: { allocation: { type: ['integer', 'string'] } } },
};
const phases = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      id: string,
      inscriptionsCount: number,
      allowList: { anyOf: [allowList, { type: 'array', items: allowList }] },
      isPublic: { enum: [0, 1, '0', '1', true, false] },
      price: number,
      startDate: number,
      endDate: { anyOf: [...number.anyOf, { type: 'null' }] },
    },
  },
};
const example = {
  id: 'pixels',
  name: 'Pixels',
  description: 'Three pixels',
  creator: 'Ada',
  totalCount: 3,
  files: [1, 2, 3].map((item) => ({ name: `${item}.png`, size: 90, url: `https://example.com/${item}.png` })),
  price: 0,
};

/** The body that creates a collection, as JSON or as a form. */
export const collectionBody = Type.Object(
  {
    id: accepted('slug, a part of URLs; required', { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,99}$' }),
    name: accepted('name that people see; required', string),
    description: accepted('description that people see; required', string),
    creator: accepted('name of the creator that people see; required', string),
    totalCount: accepted('items, 1 to 100,000; required', number),
    files: accepted(
      'at most 1,000 files, one per item, or one for all items; an operator uploads larger sets',
      {
        type: 'array',
        items: { type: 'object', properties: { name: string, size: number, url: string } },
      },
    ),
    price: accepted('sats per item for the creator; default 0', number),
    'creator-address': accepted('address that gets the price; required if a price is above 0', string),
    altPrices: accepted(
      'a price in a rune in place of sats: {rune: {amount, token}}; needs a key, whose account gets the runes',
      { type: 'object' },
    ),
    allowList: accepted('addresses that may buy: {address: {allocation}}; only without phases', allowList),
    phases: accepted('times, prices and lists of the sale; absent: one phase, the whole supply', phases),
    website: accepted('a link', string),
    banner: accepted('a link', string),
    cover: accepted('a link', string),
    twitter: accepted('a name or link', string),
    discord: accepted('a name or link', string),
    apikeyhash: accepted(
      'SHA-256 of the API key that may change the phases, in hex; that of an empty text: no key may',
      string,
    ),
  },
  { description: 'a collection (docs/collections.md); other fields are ignored', examples: [example] },
);

export const phasesBody = Type.Object(
  {
    id: accepted('id of the collection; required', string),
    phases: accepted('the new list of all phases; a phase with an id keeps it; required', phases),
  },
  { description: 'phases (docs/collections.md); other fields are ignored' },
);

export const allocationBody = Type.Object({
  id: accepted('id of the collection; required', string),
  receiveAddress: accepted('the address of a buyer; required', string),
});
