/** A clause of a filter in the form of Elasticsearch. */
export type Clause = Readonly<Record<string, unknown>>;

/** Sends a search for the documents that satisfy all clauses. */
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
