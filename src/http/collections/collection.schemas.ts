import { Type } from 'typebox';
import { accepted } from '#http/orders/order-body.schemas.ts';
import { strictObject } from '#http/server/routes/answer-schemas.ts';

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = <Schema extends ReturnType<typeof Type.Number>>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

const phase = {
  id: text('its name, for /updatecollectionphases'),
  inscriptionsCount: orNull(
    Type.Number({ minimum: 1, description: 'items that it sells; null: all that are left' }),
  ),
  isPublic: Type.Union([Type.Literal(0), Type.Literal(1)], {
    description: '1: everybody may buy; 0: the addresses of its list',
  }),
  price: count('sats an item for the creator'),
  startDate: orNull(Type.Number({ description: 'seconds since 1970, included; null: from the approval on' })),
  endDate: orNull(Type.Number({ description: 'seconds since 1970, not included; null: without end' })),
  allowListCount: count('addresses of its list, which no answer shows'),
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
  totalCount: Type.Integer({ minimum: 1, description: 'items' }),
  price: count('sats an item for the creator, where its phase has no other price'),
  'creator-address': Type.Optional(text('gets the price')),
  altPrices: Type.Optional(
    Type.Record(
      Type.String(),
      strictObject({ amount: Type.Union([Type.Number(), Type.String()]), token: Type.String() }),
      { description: 'the price of an item in a rune, in place of sats: {rune: {amount, token}}' },
    ),
  ),
  averageSize: count('bytes of a file on average; 0: unknown'),
  inscribedCount: count('items that were delivered'),
  active: Type.Boolean({ description: 'an operator approved it, and did not close it' }),
  createdAt: Type.Integer({ description: 'in ms since 1970' }),
};

export const createdCollection = strictObject({
  ...common,
  apikeyhash: Type.Optional(text('sha256 of the key that may change it')),
  files: Type.Array(
    strictObject({ name: Type.String(), url: Type.String(), size: Type.Optional(Type.Integer()) }),
  ),
  phases: Type.Array(strictObject(phase)),
});

export const shownCollection = strictObject({
  ...common,
  serviceFee: count('sats that the service takes for an item, beside the fees of every order'),
  soldCount: count('items that are paid for'),
  reservedCount: count('items of orders that are not paid for yet'),
  availableCount: count('items that no order has'),
  phases: Type.Array(strictObject({ ...phase, takenCount: count('items that its orders have') })),
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
        description: 'items that it may buy; -1: no limit, 0: not listed',
      }),
      inscribedCount: count('items that were delivered to it'),
      paidItemCount: count('items that it has paid for'),
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
    id: accepted('slug, part of URLs; required', { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,99}$' }),
    name: accepted('for people; required', string),
    description: accepted('for people; required', string),
    creator: accepted('for people; required', string),
    totalCount: accepted('items, 1 to 100,000; required', number),
    files: accepted('at most 1,000, one an item, or one for all; an operator uploads others', {
      type: 'array',
      items: { type: 'object', properties: { name: string, size: number, url: string } },
    }),
    price: accepted('sats an item for the creator; 0 where it is absent', number),
    'creator-address': accepted('gets the price; required where one is above 0', string),
    altPrices: accepted(
      'a price in a rune in place of sats: {rune: {amount, token}}; needs a key, whose account gets it',
      { type: 'object' },
    ),
    allowList: accepted('addresses that may buy: {address: {allocation}}; without phases', allowList),
    phases: accepted('times, prices and lists of the sale; absent: one phase, the whole supply', phases),
    website: accepted('a link', string),
    banner: accepted('a link', string),
    cover: accepted('a link', string),
    twitter: accepted('a name or link', string),
    discord: accepted('a name or link', string),
    apikeyhash: accepted(
      'sha256 of the API key that may change the phases, in hex; of an empty text: none',
      string,
    ),
  },
  { description: 'a collection (docs/collections.md); other fields are ignored', examples: [example] },
);

export const phasesBody = Type.Object(
  {
    id: accepted('the collection; required', string),
    phases: accepted('all phases that it has from now on; those with an id stay; required', phases),
  },
  { description: 'phases (docs/collections.md); other fields are ignored' },
);

export const allocationBody = Type.Object({
  id: accepted('the collection; required', string),
  receiveAddress: accepted('the address of a buyer; required', string),
});
