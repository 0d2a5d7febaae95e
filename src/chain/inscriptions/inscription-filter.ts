import { isCursed, mayBeCursed } from '#chain/snapshot/cursed-expression.ts';
import {
  isCommonClass,
  isCommonType,
  isRareClass,
  isRareType,
  typeClass,
} from '#chain/snapshot/index-expressions.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Conditions on the inscriptions of a list. An absent condition is always true. */
export interface InscriptionFilter {
  /** An exact content type, or `image/*`. */
  readonly contentType?: string | undefined;
  /** Lowest and highest height of the reveal, both included. */
  readonly from?: Height | undefined;
  readonly to?: Height | undefined;
  /** Script of the output that holds the inscription now. */
  readonly owner?: Uint8Array | undefined;
  /** Whether the inscription is cursed. If this is unknown, the inscription matches neither value (docs/adr/0026). */
  readonly cursed?: boolean | undefined;
  readonly metaprotocol?: string | undefined;
  /** The id of a parent of the inscription. */
  readonly parent?: InscriptionId | undefined;
  readonly delegate?: InscriptionId | undefined;
  readonly kind?: InscriptionKind | undefined;
  /** Omits JSON texts with a protocol (`"p"`), such as BRC-20 and other token operations. */
  readonly withoutTokens?: boolean | undefined;
}

/** Kinds of content by which lists can be filtered. */
export const inscriptionKinds = ['images', 'html', 'text', 'json', 'audio', 'video'] as const;
export type InscriptionKind = (typeof inscriptionKinds)[number];

/**
 * One condition. It consists of a check of an inscription `i`, and of the index from which candidates are read in key
 * order.
 */
export interface Condition {
  /** SQL about `i`; `$1` is the value. */
  readonly check: string;
  readonly value: unknown;
  readonly index: CandidateIndex | null;
  /** Values of the index's first column if the condition allows several. Absent if it allows only `value`. */
  readonly alternatives?: readonly unknown[];
}

/**
 * An index on (a, key). The entries with the same `a` are read in key order. The range and the order use both columns
 * together as a row value, so the planner can use no other index, whatever it estimates.
 */
export interface CandidateIndex {
  /**
   * The writer's name of the index (indexer/apply/secondary-indexes.ts). In a first sync and after upgrades, the index
   * is built late.
   */
  readonly name: string;
  readonly table: string;
  /** The first column of the index. `equals` is the SQL value that the column is compared with; it contains `$1`. */
  readonly column: string;
  readonly equals: string;
  readonly key: string;
  /** The condition of a partial index. */
  readonly where?: string;
}

// hashes of 32 bits collide, so some candidates do not match; `check` finds the matching ones
const indexes = {
  owner: {
    name: 'locations_owner',
    table: 'chain.locations',
    column: 'chain.hash32(script)',
    equals: 'chain.hash32($1::bytea)',
    key: 'key',
    where: 'spent_height IS NULL AND script IS NOT NULL',
  },
  parent: {
    name: 'parents_parent',
    table: 'chain.parents',
    column: 'parent_key',
    equals: '$1::integer',
    key: 'child_key',
  },
  delegate: {
    name: 'details_delegate',
    table: 'chain.inscription_details',
    column: 'chain.hash32(delegate)',
    equals: 'chain.hash32($1::bytea)',
    key: 'key',
    where: 'delegate IS NOT NULL',
  },
  metaprotocol: {
    name: 'details_metaprotocol',
    table: 'chain.inscription_details',
    column: 'chain.hash32(metaprotocol)',
    equals: 'chain.hash32($1::bytea)',
    key: 'key',
    where: 'metaprotocol IS NOT NULL',
  },
  type: {
    name: 'inscriptions_type',
    table: 'chain.inscriptions',
    column: 'chain.hash32(content_type)',
    equals: 'chain.hash32($1::bytea)',
    key: 'key',
    where: isRareType,
  },
  class: {
    name: 'inscriptions_class',
    table: 'chain.inscriptions',
    column: `chain.hash32(${typeClass})`,
    equals: 'chain.hash32($1::bytea)',
    key: 'key',
    where: isRareClass,
  },
  cursed: {
    name: 'inscriptions_curse',
    table: 'chain.inscriptions',
    column: `(${mayBeCursed})`,
    equals: 'true',
    key: 'key',
    where: mayBeCursed,
  },
} as const satisfies Record<string, CandidateIndex>;

// read only the last location, because an inscription may have moved a hundred thousand times
const ownedBy = `(SELECT CASE WHEN l.spent_height IS NULL THEN l.script END FROM chain.locations l
  WHERE l.key = i.key ORDER BY l.height DESC, l.step DESC LIMIT 1) = $1::bytea`;
const detail = (column: string): string =>
  `EXISTS (SELECT FROM chain.inscription_details d WHERE d.key = i.key AND d.${column} = $1::bytea)`;

/**
 * The conditions of a filter, except its heights. `parentKey` is the key of the filter's parent, or null if the parent
 * is not indexed.
 */
export function conditionsOf(filter: InscriptionFilter, parentKey: InscriptionKey | null): Condition[] {
  const { owner, delegate, metaprotocol, contentType, cursed } = filter;
  const conditions: Condition[] = [];
  if (owner !== undefined) {
    conditions.push({ check: ownedBy, value: Buffer.from(owner), index: indexes.owner });
  }
  if (filter.parent !== undefined) {
    const check =
      'EXISTS (SELECT FROM chain.parents p WHERE p.child_key = i.key AND p.parent_key = $1::integer)';
    conditions.push({ check, value: parentKey ?? -1, index: indexes.parent });
  }
  if (delegate !== undefined) {
    const value = Buffer.from(inscriptionIdBytes(delegate));
    conditions.push({ check: detail('delegate'), value, index: indexes.delegate });
  }
  if (metaprotocol !== undefined) {
    const value = Buffer.from(metaprotocol);
    conditions.push({ check: detail('metaprotocol'), value, index: indexes.metaprotocol });
  }
  if (contentType !== undefined) conditions.push(typeCondition(contentType));
  if (cursed !== undefined) conditions.push(cursedCondition(cursed));
  if (filter.kind !== undefined) conditions.push(kindCondition(filter.kind));
  if (filter.withoutTokens === true) conditions.push(withoutTokens);
  return conditions;
}

function typeCondition(contentType: string): Condition {
  if (contentType.endsWith('/*')) {
    const name = contentType.slice(0, -1);
    const check = `${typeClass.replaceAll('content_type', 'i.content_type')} = $1::bytea`;
    return { check, value: Buffer.from(name), index: isCommonClass(name) ? null : indexes.class };
  }
  const index = isCommonType(contentType) ? null : indexes.type;
  return { check: 'i.content_type = $1::bytea', value: Buffer.from(contentType), index };
}

/** Exact content types of the kinds whose type class also contains other types. */
const typesOfKinds = {
  html: ['text/html;charset=utf-8', 'text/html', 'text/html; charset=utf-8', 'application/xhtml+xml'],
  json: ['application/json', 'application/json;charset=utf-8', 'application/json; charset=utf-8'],
} as const;
const classOfKinds = { images: 'image/*', audio: 'audio/*', video: 'video/*' } as const;

/** The condition of a kind, for any row `i` with a `content_type`. */
export function kindCondition(kind: InscriptionKind): Condition {
  if (kind === 'html' || kind === 'json') {
    const alternatives = typesOfKinds[kind].map((type) => Buffer.from(type));
    return {
      check: 'i.content_type = ANY($1::bytea[])',
      value: alternatives,
      index: indexes.type,
      alternatives,
    };
  }
  if (kind !== 'text') return typeCondition(classOfKinds[kind]);
  // no index is needed, because most inscriptions are texts, and reading by key finds them quickly
  const isText = `${typeClass.replaceAll('content_type', 'i.content_type')} = 'text/'::bytea`;
  const html = typesOfKinds.html.map((type) => Buffer.from(type));
  return { check: `${isText} AND i.content_type <> ALL($1::bytea[])`, value: html, index: null };
}

/**
 * Number of bytes of a text in which its protocol is searched. Token operations name the protocol within the first
 * twenty bytes or so.
 */
const protocolBytes = 300;

const withoutTokens: Condition = {
  check: `NOT EXISTS (SELECT FROM chain.contents t WHERE t.content_id = i.content_id AND t.text <> 0
    AND encode(substring(t.body FROM 1 FOR $1::integer), 'escape') ~ '^\\s*\\{[^{}]*"p"\\s*:\\s*"')`,
  value: protocolBytes,
  index: null,
};

function cursedCondition(cursed: boolean): Condition {
  // uncursed inscriptions need no index, because most are not cursed, and reading by key finds them quickly
  return { check: `(${isCursed('i')}) = $1::boolean`, value: cursed, index: cursed ? indexes.cursed : null };
}
