import type { JsonPart } from '#http/server/budgets/json-in-turns.ts';
import { fileAnswers, type OrderProgress, orderFields } from '#orders/customers/order-answer.ts';
import type { Order } from '#orders/order/order.store.ts';

/** The answer to GET /order in parts, a file each: 10,000 of them are seven megabytes. */
export function* orderParts(found: { readonly order: Order } & OrderProgress): Generator<JsonPart> {
  const fields = JSON.stringify(orderFields(found.order, found));
  const answerOf = fileAnswers(found.order, found);
  yield `${fields.slice(0, -1)},"files":[`;
  for (const [place, file] of found.files.entries())
    yield `${place === 0 ? '' : ','}${JSON.stringify(answerOf(file))}`;
  yield ']}';
}
