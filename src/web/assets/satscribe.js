// The one script of our pages: hashing a chosen or dropped file here, in the browser, what a text that is being typed could
// become, and a few keys. Everything else works without it.

const box = document.querySelector('input[name=q]');
const drop = document.querySelector('.drop');
const toast = document.querySelector('.toast');

function say(words) {
  toast.textContent = words;
  toast.hidden = words === '';
}

async function lookUp(file) {
  if (!globalThis.crypto?.subtle) {
    say('This browser hashes files only on https or localhost. Search for the sha256 of the file instead.');
    return;
  }
  say(`Hashing ${file.name}…`);
  try {
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
    location.assign(`/?hash=${hex}`);
  } catch {
    say(`${file.name} cannot be read.`);
  }
}

for (const pick of document.querySelectorAll('input.pick')) {
  pick.addEventListener('change', () => {
    if (pick.files[0]) lookUp(pick.files[0]);
  });
}

const hasFile = (event) => event.dataTransfer?.types.includes('Files');
addEventListener('dragenter', (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  drop.hidden = false;
});
addEventListener('dragover', (event) => {
  if (hasFile(event)) event.preventDefault();
});
addEventListener('dragleave', (event) => {
  // it has left the window when there is nothing it went over to
  if (event.relatedTarget === null) drop.hidden = true;
});
addEventListener('drop', (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  drop.hidden = true;
  const [file] = event.dataTransfer.files;
  if (file) lookUp(file);
});

// A list below each search box, as a combobox (WAI-ARIA 1.2): the focus stays in the box.
const pauseMs = 150;

function suggest(input, number) {
  const list = document.createElement('ul');
  list.id = `suggestions-${number}`;
  list.className = 'suggestions';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  input.closest('.box').after(list);
  const attributes = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
  };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  let timer = 0;
  let asked = null;
  let chosen = -1;

  const show = (isShown) => {
    list.hidden = !isShown;
    input.setAttribute('aria-expanded', String(isShown));
    if (!isShown) choose(-1);
  };
  const choose = (index) => {
    chosen = index;
    for (const [at, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(at === index));
    const option = list.children[index];
    if (option) input.setAttribute('aria-activedescendant', option.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const take = (option) => {
    show(false);
    if (option.dataset.path) return location.assign(option.dataset.path);
    input.value = option.dataset.text;
    input.form.requestSubmit();
  };
  const add = (data, words, hint) => {
    const option = document.createElement('li');
    option.id = `${list.id}-${list.children.length}`;
    option.setAttribute('role', 'option');
    Object.assign(option.dataset, data);
    const small = document.createElement('small');
    small.textContent = hint;
    // a text of a stranger must not turn the hint beside it
    const text = document.createElement('bdi');
    text.textContent = words;
    option.append(text, small);
    list.append(option);
  };
  const ask = async () => {
    asked?.abort();
    const text = input.value;
    if (text.trim() === '') return show(false);
    asked = new AbortController();
    try {
      const answer = await fetch(`/search/suggest?text=${encodeURIComponent(text)}`, {
        // where searches need a key it says that a page of this server asks
        referrerPolicy: 'same-origin',
        signal: asked.signal,
      });
      const { status, words, names } = await answer.json();
      if (status !== 'ok' || input.value !== text || document.activeElement !== input) return;
      list.replaceChildren();
      for (const { name, kind, path } of names) add({ path }, name, kind);
      for (const { text: whole } of words) add({ text: whole }, whole, '');
      show(list.children.length > 0);
      choose(-1);
    } catch {
      // without suggestions a search is as good
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pauseMs);
  });
  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (list.hidden || count === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      // -1 is the box itself
      choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      show(false);
    } else if (event.key === 'Enter' && chosen >= 0) {
      event.preventDefault();
      take(list.children[chosen]);
    }
  });
  // before the box loses its focus, which would hide the list
  list.addEventListener('pointerdown', (event) => {
    const option = event.target.closest('li');
    if (option) {
      event.preventDefault();
      take(option);
    }
  });
  input.addEventListener('blur', () => show(false));
  input.form.addEventListener('submit', () => {
    clearTimeout(timer);
    asked?.abort();
    show(false);
  });
}

for (const [number, input] of document.querySelectorAll('.search input[name=q]').entries())
  suggest(input, number);

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(?:input|textarea|select)$/i.test(event.target.tagName)) return;
  if (event.key === '/') {
    event.preventDefault();
    box.focus();
    box.select();
  }
  const rel = { ArrowLeft: 'prev', ArrowRight: 'next' }[event.key];
  if (rel) document.querySelector(`main a[rel=${rel}]`)?.click();
});

// back from a result: nothing is being hashed any more
addEventListener('pageshow', () => say(''));
