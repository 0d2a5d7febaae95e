import { type Static, Type } from 'typebox';
import type { ProvenanceRule } from '#kernel/satributes/provenance.ts';
import { rangeInList } from '#kernel/satributes/range-list.ts';
import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import { listOf, type Satribute, type SatributeRule, whyUnknown } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { type Sat, satSupply } from '#kernel/sats/sat.ts';
import { type SatRange } from '#kernel/sats/sat-range.ts';

/**
 * Maximum number of ranges of a satribute in an answer. A satribute with a list has at most some hundred thousand
 * ranges.
 */
const rangesMax = 100;
const allSats: SatRange = { start: 0, end: satSupply };

const integer = Type.Integer();
const text = Type.String();
const range = Type.Object({
  start: integer,
  end: Type.Integer({ description: 'the first sat after the range' }),
});

const summary = Type.Object({
  id: text,
  version: Type.Integer({ description: 'a changed rule under the same id has another version' }),
  title: text,
  about: text,
  origin: Type.String({ description: 'source of the rule or the list' }),
  completeness: Type.String({ description: 'whether the list of its sats is known to be complete' }),
  spellings: Type.Array(text, { description: 'the id, and its names in public interfaces' }),
  networks: Type.Union([Type.Literal('all'), Type.Literal('mainnet')]),
  findable: Type.Boolean({ description: 'true: its sats are known, and it applies to this network' }),
  sats: Type.Union([integer, Type.Null()], {
    description: 'number of its sats that will ever be mined; null: unknown',
  }),
});

export const satributesAnswer = Type.Object({ network: text, satributes: Type.Array(summary) });

const explanation = Type.Object({
  sat: integer,
  has: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'null: its sats are unknown, so this sat may have it or not',
  }),
  range: Type.Union([range, Type.Null()], { description: 'the range of the rule that contains the sat' }),
});

export const satributeAnswer = Type.Object({
  ...summary.properties,
  rule: Type.Object(
    { kind: text },
    {
      description:
        'the definition as data; for a list of ranges their number, and for unknown sats the reason',
      additionalProperties: true,
    },
  ),
  ranges: Type.Array(range, { description: 'the first ranges of its sats' }),
  more: Type.Boolean(),
  explain: Type.Optional(explanation),
});

export const satExplainAnswer = Type.Object({
  sat: integer,
  satributes: Type.Array(Type.Object({ id: text, version: integer, about: text, range })),
  unknown: Type.Array(Type.Object({ id: text, why: text }), {
    description: 'satributes whose sats are unknown here: the sat may have them',
  }),
});

type Summary = Static<typeof summary>;

function summaryOf(satribute: Satribute, book: SatributeBook): Summary {
  const { id, version, title, about, origin, completeness, networks, rule, inventory, scanner } = satribute;
  return {
    id,
    version,
    title,
    about,
    origin,
    completeness,
    spellings: [id, ...[inventory, scanner].filter((spelling) => spelling !== undefined)],
    networks,
    findable: book.isFindable(satribute),
    sats: whyUnknown(rule) === null ? countWithin(rule, allSats) : null,
  };
}

export function satributesView(book: SatributeBook): Static<typeof satributesAnswer> {
  const { network, satributes } = book;
  return { network, satributes: satributes.map((satribute) => summaryOf(satribute, book)) };
}

export function satributeView(
  satribute: Satribute,
  book: SatributeBook,
  sat: Sat | null,
): Static<typeof satributeAnswer> {
  const ranges: SatRange[] = [];
  let more = false;
  for (const found of rangesWithin(satribute.rule, allSats)) {
    more = ranges.length === rangesMax;
    if (more) break;
    ranges.push(found);
  }
  const view = { ...summaryOf(satribute, book), rule: ruleView(satribute.rule), ranges, more };
  return sat === null ? view : { ...view, explain: explanationOf(satribute, sat, book) };
}

/** Facts about a rule, in place of its long list of ranges. */
interface RuleSummary extends Partial<Pick<ProvenanceRule, 'outputs'>> {
  readonly kind: SatributeRule['kind'];
  /** Number of ranges in the rule. */
  readonly count?: number;
  readonly why?: string;
}

/** A rule in an answer. The rule's long list is left out, because the answer already has the first ranges. */
function ruleView(rule: SatributeRule): SatributeRule | RuleSummary {
  if (rule.kind === 'ranges' && rule.ranges.length > rangesMax)
    return { kind: rule.kind, count: rule.ranges.length };
  if (rule.kind !== 'provenance') return rule;
  const { kind, outputs, sats } = rule;
  return { kind, outputs, ...(sats.state === 'known' ? { count: sats.ranges.length } : { why: sats.why }) };
}

/** The satributes that a sat is known to have. */
export function satributeNames(sat: Sat, book: SatributeBook): { id: string; title: string }[] {
  const named = new Set(satExplainView(sat, book).satributes.map(({ id }) => id));
  return book.satributes.filter(({ id }) => named.has(id)).map(({ id, title }) => ({ id, title }));
}

/** The satributes of a sat, each with its reason, and the satributes that the sat may have. */
export function satributeReasons(
  sat: Sat,
  book: SatributeBook,
): { satributes: SatributeReason[]; unknownSatributes: UnknownSatribute[] } {
  const { satributes, unknown } = satExplainView(sat, book);
  const titles = new Map(book.satributes.map(({ id, title }) => [id, title]));
  const titled = <Of extends { readonly id: string }>(of: Of): Of & { title: string } => ({
    ...of,
    title: titles.get(of.id) ?? of.id,
  });
  return { satributes: satributes.map(titled), unknownSatributes: unknown.map(titled) };
}

type Explained = Static<typeof satExplainAnswer>;
type SatributeReason = Explained['satributes'][number] & { readonly title: string };
type UnknownSatribute = Explained['unknown'][number] & { readonly title: string };

/** The explanation of a sat. It uses every definition that applies to the network. */
export function satExplainView(sat: Sat, book: SatributeBook): Static<typeof satExplainAnswer> {
  const meant = book.satributes.filter((satribute) => book.isMeant(satribute));
  return {
    sat,
    satributes: meant.flatMap((satribute) => {
      const { id, version, about } = satribute;
      const { range: found } = explanationOf(satribute, sat, book);
      return found === null ? [] : [{ id, version, about, range: found }];
    }),
    unknown: meant.flatMap(({ id, rule }) => {
      const why = whyUnknown(rule);
      return why === null ? [] : [{ id, why }];
    }),
  };
}

function explanationOf(satribute: Satribute, sat: Sat, book: SatributeBook): Static<typeof explanation> {
  const { rule } = satribute;
  if (whyUnknown(rule) !== null) return { sat, has: null, range: null };
  // a rule from facts of mainnet does not apply to sats of other networks
  const has = book.isMeant(satribute) && countWithin(rule, { start: sat, end: sat + 1 }) > 0;
  return { sat, has, range: has ? rangeAround(rule, sat) : null };
}

/**
 * The range of a rule that contains a sat. If the rule has blocks or a list of ranges, this is the entire range.
 * Otherwise it is only the sat.
 */
function rangeAround(rule: Satribute['rule'], sat: Sat): SatRange {
  if (rule.kind === 'blocks') {
    for (const found of rangesWithin(rule, allSats)) if (found.start <= sat && sat < found.end) return found;
  }
  return rangeInList(listOf(rule) ?? [], sat) ?? { start: sat, end: sat + 1 };
}

/** The names of the satributes that can be found, in the scanner's spelling. */
export function scannerNames({ findable }: SatributeBook): string[] {
  return findable.map(({ id, scanner = id }) => scanner);
}
