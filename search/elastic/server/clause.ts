/** A clause of a filter, as Elasticsearch takes it. */
export type Clause = Readonly<Record<string, unknown>>;

/** Asks something of the documents that satisfy all clauses. */
export type Search = <Answer>(
  body: Readonly<Record<string, unknown>>,
  clauses: readonly Clause[],
) => Promise<Answer>;

export const allOf = (clauses: readonly Clause[]): Clause => ({ bool: { filter: clauses } });

/** Matches nothing. */
export function anyOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  if (only === undefined) return { match_none: {} };
  return clauses.length === 1 ? only : { bool: { should: clauses, minimum_should_match: 1 } };
}
