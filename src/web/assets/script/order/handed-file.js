// A file that another page of this site hands to the page that orders: it stays in the browser.

const databaseName = 'satscribe-file';
const storeName = 'files';
const key = 'satscribe-file';

/**
 * @template Result
 * @param {IDBRequest<Result>} request
 * @returns {Promise<Result>}
 */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('the browser keeps no files')));
  });

async function openStore() {
  const opening = indexedDB.open(databaseName, 1);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(storeName));
  const database = await settled(opening);
  return { database, store: database.transaction(storeName, 'readwrite').objectStore(storeName) };
}

/**
 * Takes the file that was handed over, once; null: there is none.
 *
 * @returns {Promise<File | null>}
 */
export async function takeHandedFile() {
  try {
    const { database, store } = await openStore();
    const found = /** @type {unknown} */ (await settled(store.get(key)));
    await settled(store.delete(key));
    database.close();
    return found instanceof File ? found : null;
  } catch {
    return null;
  }
}
