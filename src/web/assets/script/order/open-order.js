// Opens the page of an order by its id, which is put into the fragment: it is sent nowhere.
import { byId } from './elements.js';
import { orderIdOf } from './own-orders.js';

export function listenToOpening() {
  const form = byId('open-order', HTMLFormElement);
  const field = byId('order-id', HTMLInputElement);
  const problem = byId('order-id-problem', HTMLElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // people paste the address of the page, too
    const id = orderIdOf(field.value.replace(/^.*#/u, ''));
    problem.hidden = id !== null;
    problem.textContent = id === null ? 'This is no id of an order: it has 36 characters, as 0b6c….' : '';
    field.setAttribute('aria-invalid', String(id === null));
    if (id === null) return;
    field.value = '';
    location.assign(`/order#${id}`);
  });
}
