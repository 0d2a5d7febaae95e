// Opens the page of an order by its id. The id goes into the fragment of the address, which browsers never send.
import { byId } from './elements.js';
import { orderIdOf } from './own-orders.js';

export function listenToOpening() {
  const form = byId('open-order', HTMLFormElement);
  const field = byId('order-id', HTMLInputElement);
  const problem = byId('order-id-problem', HTMLElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // accept the whole address of the page, because people paste that too
    const id = orderIdOf(field.value.replace(/^.*#/u, ''));
    problem.hidden = id !== null;
    problem.textContent =
      id === null ? 'This is not the id of an order, which has 36 characters, such as 0b6c….' : '';
    field.setAttribute('aria-invalid', String(id === null));
    if (id === null) return;
    field.value = '';
    location.assign(`/order#${id}`);
  });
}
