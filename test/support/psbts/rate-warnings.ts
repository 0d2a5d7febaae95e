/**
 * Returns a response without the warning that its rate is below the node's estimate. The node learns from all
 * transactions of a file, so the warning depends on the order of the tests. test/unit/psbts/planning/fee-rate.test.ts
 * tests its text.
 */
export function withoutRateWarning<Answer extends { readonly warnings: readonly string[] }>(
  answer: Answer,
): Answer {
  return {
    ...answer,
    warnings: answer.warnings.filter((text) => !text.includes("the node's present estimate")),
  };
}
