import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { unreachable } from '#kernel/unreachable.ts';
import type { WantedOrderName } from '#orders/paying/find-open-order.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';

/** Finds the order that a request pays for. Throws `not_found`, `request_invalid` with the reason, and `orders_off`. */
export async function openOrderOf(
  { orders = null, network }: AppDependencies,
  wanted: WantedOrderName,
  { signal }: Asker,
): Promise<OpenOrder> {
  if (orders === null) throw new AppError('orders_off', 'this service accepts no orders');
  const found = await orders.findOpen(wanted, network, signal);
  const [parameter, given] = 'id' in wanted ? ['orderId', wanted.id] : ['fundingAddress', wanted.address];
  const invalid = (message: string): AppError => new AppError('request_invalid', message, { parameter });
  switch (found.kind) {
    case 'open':
      return found.order;
    case 'paid':
      return refuse(invalid(`${parameter}: the order needs no more payment, because it is ${found.state}.`));
    case 'over':
      return refuse(
        invalid(`${parameter}: the order is ${found.state}, so a payment would only be refunded.`),
      );
    case 'deposit':
      return refuse(
        invalid(
          `${parameter} is the deposit address of a parent, but the charge goes to the address of the order.`,
        ),
      );
    case 'no-address':
      return refuse(invalid(`${parameter} ${found.reason}, but this server serves ${network.name}`));
    case 'unknown':
      return refuse(new AppError('not_found', unknownOrder(parameter, given)));
    default:
      return unreachable(found);
  }
}

function refuse(error: AppError): never {
  throw error;
}

/** Maximum number of characters of a value that an error quotes. */
const shownChars = 100;

const unknownOrder = (parameter: string, given: string): string => {
  const shown = given.length <= shownChars ? given : `${given.slice(0, shownChars)}…`;
  return parameter === 'orderId'
    ? `no such order ${shown}`
    : `no order of this service has the address ${shown}`;
};
