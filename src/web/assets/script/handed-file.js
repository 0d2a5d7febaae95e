// Passes a file from one page to the next, only within the browser. The first page checks the file, and /inscribe
// inscribes it.

const database = 'satscribe-file';
const store = 'files';
const key = 'satscribe-file';

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(files: IDBObjectStore) => IDBRequest<T>} act
 * @returns {Promise<T>}
 */
async function within(mode, act) {
  const opened = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = opened.transaction(store, mode);
      const request = act(transaction.objectStore(store));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    opened.close();
  }
}

/**
 * Stores a file for the next page. The result is false if the browser cannot store anything, as in some private
 * windows. The customer must then choose the file again.
 *
 * @param {File} file
 * @returns {Promise<boolean>}
 */
export async function handFile(file) {
  try {
    await within('readwrite', (files) => files.put(file, key));
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the file that an earlier page stored, and deletes it from the store. The result is null if no file is stored.
 *
 * @returns {Promise<File | null>}
 */
export async function takeHandedFile() {
  try {
    const file = await within('readonly', (files) => files.get(key));
    if (!(file instanceof File)) return null;
    await within('readwrite', (files) => files.delete(key));
    return file;
  } catch {
    return null;
  }
}
