import { type TSchema, Type } from 'typebox';
import { exampleAddress, exampleId } from '#http/parameters/list-parameters.ts';
import { exampleHash } from '#http/search/search.schemas.ts';
import { type AcceptedForm, acceptedForms } from '#http/server/routes/accepted-form.ts';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { textCharsMax } from '#kernel/requests/request-values.ts';
import { findingsPageMax } from '#watches/store/findings.store.ts';
import { watchKinds } from '#watches/watch.ts';
import { waitMax } from './finding-waits.ts';

export const exampleWatch = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
const exampleFinding = '0f4b6f6d2f8a4c1e9f7b3d5a1c2e4f60';
const exampleTime = '2026-11-30T13:12:28.000Z';
const exampleUrl = 'https://shop.example/hooks?token=1';

/** A field of a body. A separate reader checks the field, and refuses other values with its own messages. */
const given = (description: string, acceptedForm: AcceptedForm, example: unknown): TSchema =>
  Type.Optional(Type.Unknown({ description, acceptedForm, examples: [example] }));
const givenText = (description: string, form: AcceptedForm, example: string): TSchema =>
  given(description, { type: 'string', ...form }, example);
const flag = (description: string): TSchema => given(description, { type: 'boolean' }, true);

const webhookUrl = givenText(
  'URL that gets each change of a finding (docs/watches.md, "Webhooks")',
  { minLength: 1, maxLength: textCharsMax },
  exampleUrl,
);

/**
 * The body of a saved search. Its fields have the names and meanings of the parameters of `/search`. A
 * separate reader refuses other fields with the reason.
 */
export const searchBody = Type.Object(
  {
    text: givenText(
      'needles in the content, separated by commas; all must occur',
      acceptedForms.text,
      'brc-20,mint',
    ),
    metadata: givenText('the same in the metadata', acceptedForms.text, 'genesis'),
    hash: givenText('sha256 of the content in 64 hex digits', acceptedForms.hash, exampleHash),
    phrase: flag('true: the whole text is one needle, commas included'),
    words: flag('true: the text is a list of whole words, found in any order'),
    contentType: givenText(
      'exact content type, or a class such as image/*',
      acceptedForms.contentType,
      'image/*',
    ),
    cursed: flag('true: only cursed inscriptions; false: only others'),
    metaprotocol: givenText('exact', acceptedForms.text, 'brc-20'),
    parent: givenText('id of a parent', acceptedForms.inscriptionId, exampleId),
    title: givenText('a part of the title (tag 17), in any letter case', acceptedForms.text, 'genesis'),
    trait: givenText(
      'required traits (tag 17) as Name:Value, separated by commas',
      { pattern: String.raw`^[^,:\\]{1,100}:[^,:\\]{0,100}$` },
      'Hat:Red',
    ),
    gallery: givenText(
      'id of an inscription in the gallery (tag 17)',
      acceptedForms.inscriptionId,
      exampleId,
    ),
    key: givenText('a key of the metadata at any depth', acceptedForms.text, 'name'),
    value: givenText('a value in the metadata, or of the given key', acceptedForms.text, 'Foo'),
    webhookUrl,
  },
  {
    acceptedForm: { additionalProperties: false },
    examples: [{ text: 'brc-20,mint', webhookUrl: exampleUrl }],
  },
);

/** A price in sats. The reader of bodies takes at most 15 digits, which is above every price of the chain. */
const price = (description: string): TSchema =>
  given(description, { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 }, 100_000);

/** The body of a watch of another kind. */
export const watchBody = Type.Object(
  {
    kind: givenText('the kind of watch', { enum: watchKinds.filter((kind) => kind !== 'search') }, 'sales'),
    collection: givenText(
      'sales: slug of a collection of the market',
      { minLength: 1, maxLength: 200 },
      'bitcoin-frogs',
    ),
    minPrice: price('sales: lowest price in sats, included'),
    maxPrice: price('sales: highest price in sats, included'),
    address: givenText(
      'receipts: the address; sales: address of the seller or the buyer',
      acceptedForms.address,
      exampleAddress,
    ),
    parent: givenText('children: id of the parent', acceptedForms.inscriptionId, exampleId),
    event: givenText('runes: what happens to the rune', { enum: ['etched', 'minted-out'] }, 'etched'),
    rune: givenText('runes: only this rune, by name', acceptedForms.runeName, 'DOG•GO•TO•THE•MOON'),
    webhookUrl,
  },
  { acceptedForm: { additionalProperties: false }, examples: [{ kind: 'children', parent: exampleId }] },
);

const nullable = (of: TSchema, description: string): TSchema =>
  Type.Union([of, Type.Null()], { description });
const time = (description: string): TSchema =>
  Type.String({ format: 'date-time', description, examples: [exampleTime] });

/** A watch in answers. */
export const watchSchema = strictObject({
  id: Type.String({ format: 'uuid', examples: [exampleWatch] }),
  kind: Type.Union(
    watchKinds.map((kind) => Type.Literal(kind)),
    { examples: ['search'] },
  ),
  condition: Type.Object(
    {},
    {
      additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
      description: 'the condition as it was sent',
      examples: [{ text: 'brc-20,mint' }],
    },
  ),
  webhookUrl: nullable(Type.String({ examples: [exampleUrl] }), 'null: its findings are only read'),
  active: Type.Boolean({ description: 'false: it finds nothing more', examples: [true] }),
  endReason: nullable(
    Type.Union([Type.Literal('gone'), Type.Literal('revoked')], { examples: ['gone'] }),
    'gone: its webhook answered 410; revoked: its key was revoked; null: it is active',
  ),
  createdAt: time('only transactions that arrive later are found'),
  found: Type.Integer({ description: 'number of things that were ever found', examples: [3] }),
  lastNumber: Type.Integer({ description: 'number of the newest change', examples: [7] }),
  feedUrl: nullable(
    Type.String({
      description: 'URL of its Atom feed, with a token; anyone who has it can read the feed',
      examples: [
        `https://satscribe.example/watches/${exampleWatch}.atom?token=0123456789abcdef0123456789abcdef`,
      ],
    }),
    'null: this service makes no such feeds now',
  ),
});

const secret = Type.Optional(
  Type.String({
    description: 'only with webhookUrl, and only here: the secret of v1 signatures, 32 bytes in hex',
    examples: ['5f2d8c1b7a9e4f30865d2c1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a0918273'],
  }),
);

const status = Type.Literal('ok');
export const createdSearch = strictObject({ status, search: watchSchema, webhookSecret: secret });
export const createdWatch = strictObject({ status, watch: watchSchema, webhookSecret: secret });
export const oneSearch = strictObject({ status, search: watchSchema });
export const oneWatch = strictObject({ status, watch: watchSchema });
export const searchList = strictObject({ status, searches: Type.Array(watchSchema) });
export const watchList = strictObject({ status, watches: Type.Array(watchSchema) });

const states = ['pending', 'confirmed', 'replaced', 'void', 'reorganised'] as const;
const hexId = (description: string) => Type.String({ description, examples: [exampleHash] });

/** A finding. The kind of its watch decides which further fields it has. */
const findingSchema = Type.Object(
  {
    id: Type.String({
      description: 'the same for the same watch and thing, in all states',
      examples: [exampleFinding],
    }),
    number: Type.Integer({ description: 'number of its newest change', examples: [7] }),
    state: Type.Union(
      states.map((state) => Type.Literal(state)),
      {
        description:
          'pending: in the mempool; confirmed: in a block; replaced: it left the mempool without a block; void: it was mined, but does not make the thing; reorganised: its block was undone, and it is not in the mempool',
        examples: ['confirmed'],
      },
    ),
    txid: hexId('the transaction that makes the thing'),
    height: nullable(Type.Integer({ examples: [857_000] }), 'of its block, also of an undone one; else null'),
    blockHash: nullable(hexId('hash of that block'), 'null like height'),
    replacedBy: nullable(hexId('the transaction that replaced it'), 'null if none is known'),
    firstSeen: time('when the service first saw the thing'),
    changedAt: time('time of its newest change'),
  },
  {
    additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
    description: 'a thing that the watch found; docs/watches.md lists the further fields of each kind',
  },
);

export const findingsAnswer = strictObject({
  status,
  findings: Type.Array(findingSchema, { description: 'in the order of their numbers' }),
  lastNumber: Type.Integer({ description: 'number of the newest change of the watch', examples: [7] }),
  more: Type.Boolean({ description: 'whether there are findings after these', examples: [false] }),
});

export const findingsQuery = Type.Object({
  after: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'only changes after this number: the number of the last finding that was read',
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: findingsPageMax,
    default: 100,
    description: 'findings of one answer',
  }),
  wait: Type.Integer({
    minimum: 0,
    maximum: waitMax,
    default: 0,
    description: 'seconds to wait for the next finding if the page would be empty',
  }),
});

export const watchPath = (what: string) =>
  Type.Object({ id: Type.String({ description: `the id of ${what}`, examples: [exampleWatch] }) });
