/** Passes on what comes, and ends with the signal's reason also while nothing comes. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener that is told anew for each item: a promise for all of them would keep something for every one.
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
    // Nobody waits for it: a source that is silent hears of its end when it speaks again, if it ever does.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}
