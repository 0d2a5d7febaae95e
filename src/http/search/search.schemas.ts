import { Type } from 'typebox';
import { exampleId } from '#http/parameters/list-parameters.ts';
import { limits } from '#http/server/limits.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import type { Highlight } from '#kernel/contracts/search-service.ts';
import { meaningWords } from '#web/parts/meaning-cards.ts';

/** The SHA-256 of the first inscribed content. */
export const exampleHash = '846d05123db3601c8591bd144f474f1fbe7f873f3af04db4cab326db73f8d087';

const pending = Type.Optional(
  Type.Union([Type.Literal('0'), Type.Literal('1'), Type.Literal('false'), Type.Literal('true')], {
    description: '1: also inscriptions in the mempool',
  }),
);

export const lookupQuery = Type.Object({
  id: Type.Optional(
    Type.String({
      description: 'an inscription id',
      acceptedForm: acceptedForms.inscriptionId,
      examples: [exampleId],
    }),
  ),
  pending,
});

export const suggestQuery = Type.Object({
  text: Type.Optional(
    Type.String({
      description: 'the text typed so far',
      acceptedForm: { minLength: 1, maxLength: 200 },
      examples: ['brc-20 dep'],
    }),
  ),
});

export const searchPath = Type.Object({
  query: Type.String({
    description:
      'an inscription id or number, the hash of a block or a transaction, an outpoint, an address, or a text',
    acceptedForm: acceptedForms.text,
    examples: ['0'],
  }),
});

// this endpoint is not part of the public interface, so unknown fields are refused
export const hashesBody = Type.Object(
  { hashes: Type.Array(Type.String({ acceptedForm: acceptedForms.hash }), { maxItems: limits.hashes }) },
  { additionalProperties: false, examples: [{ hashes: [exampleHash] }] },
);

const nullableString = Type.Union([Type.String(), Type.Null()]);

const highlights = Type.Unsafe<readonly Highlight[]>(
  Type.Array(
    Type.Object({
      text: Type.String(),
      offset: Type.Integer(),
      matches: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() })),
    }),
  ),
);

const recordCore = {
  txid: Type.String(),
  inputindex: Type.String(),
  inscriptionid: Type.String(),
  blockheight: nullableString,
  contenttypestr: nullableString,
  contenthash: nullableString,
  contentlength: nullableString,
  createdat: Type.String(),
  pending: Type.Optional(Type.Literal('true')),
  highlights: Type.Optional(highlights),
};
const textRecord = Type.Object({
  ...recordCore,
  inscriptionnumber: nullableString,
  contentstr: nullableString,
  metadatastr: nullableString,
});
const hashRecord = Type.Object(recordCore);
const firstRecord = Type.Object({ ...recordCore, inscriptionnumber: nullableString });
const lookupRecord = Type.Object({
  ...textRecord.properties,
  owner: nullableString,
  content: nullableString,
});

const envelope = {
  status: Type.Literal('ok'),
  count: Type.Integer(),
  currentPage: Type.Integer(),
  totalPages: Type.Integer(),
  totalItems: Type.Integer(),
  itemsPerPage: Type.Integer(),
  nextCursor: Type.Optional(nullableString),
};

export const textAnswer = Type.Object({ ...envelope, results: Type.Array(textRecord) });
export const hashAnswer = Type.Object({ ...envelope, results: Type.Array(hashRecord) });
export const lookupAnswer = Type.Object({ status: Type.Literal('ok'), results: Type.Array(lookupRecord) });
export const facetsAnswer = Type.Object({
  status: Type.Literal('ok'),
  totalItems: Type.Integer(),
  types: Type.Array(Type.Object({ contentType: nullableString, count: Type.Integer() })),
  otherTypes: Type.Integer(),
  days: Type.Array(Type.Object({ day: Type.String({ examples: ['2023-02-01'] }), count: Type.Integer() })),
});
export const suggestAnswer = Type.Object({
  status: Type.Literal('ok'),
  words: Type.Array(Type.Object({ text: Type.String(), word: Type.String(), contents: Type.Integer() })),
  names: Type.Array(
    Type.Object({
      kind: Type.String({
        enum: Object.keys(meaningWords),
        description: 'the kind of thing that the text names',
      }),
      name: Type.String(),
      path: Type.String({ description: 'path of its page' }),
    }),
  ),
});
const nullableInteger = Type.Union([Type.Integer(), Type.Null()]);
/** The blocks that an answer covers (src/chain/blocks/coverage.queries.ts). */
const coverage = Type.Object({
  fromHeight: nullableInteger,
  toHeight: nullableInteger,
  blocks: Type.Integer(),
  share: Type.Number({ minimum: 0, maximum: 1 }),
  complete: Type.Boolean(),
});
export const hashesAnswer = Type.Object({
  status: Type.Literal('ok'),
  count: Type.Integer(),
  newCount: Type.Integer(),
  /** `new` means that the hash is new within these blocks */
  coverage,
  results: Type.Array(
    Type.Object({
      hash: Type.String(),
      new: Type.Boolean(),
      first: Type.Union([firstRecord, Type.Null()]),
    }),
  ),
});
