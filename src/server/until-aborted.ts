/** Passes on what comes, and ends with the signal's reason also while nothing comes. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for all items: a promise that outlives them would keep something for each.
  let abort: (reason: unknown) => void = () => undefined;
  const onAbort = () => abort(signal.reason);
  const next = () =>
    new Promise<IteratorResult<T>>((resolve, reject) => {
      abort = reject;
      iterator.next().then(resolve, reject);
    });
  let isOver = false;
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await next();
      isOver = done === true;
      if (isOver) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source that is silent ends when its next item comes, if it ever does.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}
