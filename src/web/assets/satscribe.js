// The one script of our pages: hashing a chosen or dropped file here, in the browser, and a few keys.
// Everything else works without it.

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
