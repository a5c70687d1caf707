/** Channel to the native host. */
export interface HostChannel {
  /** Whether there is a native host; `false` in an ordinary browser. */
  isAvailable: boolean;
  /** Returns `false` if no native host listens. Throws the native host's own errors. */
  post(message: Record<string, unknown>): boolean;
}

interface NativeObject {
  /** Returns a promise if the WKWebView handler replies. */
  postMessage(message: unknown): unknown;
}

const isNativeObject = (value: unknown): value is NativeObject =>
  typeof value === 'object' &&
  value !== null &&
  'postMessage' in value &&
  typeof value.postMessage === 'function' &&
  // Excludes a frame with this name, which is also a global.
  !('window' in value && value.window === value);

/**
 * Returns the channel to the native host: `webkit.messageHandlers[name]` of a WKWebView, which accepts objects, or `window[name]`
 * of an Android WebView (`addJavascriptInterface` or `addWebMessageListener`), which accepts text. Looked up for each message,
 * because a host may add its object after the page started to load.
 */
export const findHostChannel = (name: string, scope: object = globalThis): HostChannel => {
  const find = (): ((message: Record<string, unknown>) => unknown) | null => {
    const webkit: unknown = Reflect.get(scope, 'webkit');
    const handlers: unknown =
      typeof webkit === 'object' && webkit !== null ? Reflect.get(webkit, 'messageHandlers') : undefined;
    const apple: unknown =
      typeof handlers === 'object' && handlers !== null ? Reflect.get(handlers, name) : undefined;
    // Called as a method, because native objects need their receiver.
    if (isNativeObject(apple)) return (message) => apple.postMessage(message);
    const android: unknown = Reflect.get(scope, name);
    return isNativeObject(android) ? (message) => android.postMessage(JSON.stringify(message)) : null;
  };
  return {
    get isAvailable() {
      return find() !== null;
    },
    post(message) {
      const send = find();
      // Replies are ignored. Errors are caught, so that they do not become unhandled rejections of the page.
      Promise.resolve(send?.(message)).catch(() => undefined);
      return send !== null;
    },
  };
};
