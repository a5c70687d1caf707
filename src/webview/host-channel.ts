/** What carries text or objects to the native side. */
export interface HostChannel {
  /** False in an ordinary browser. */
  isThere: boolean;
  /** False where no native side listens; throws the native side's own errors. */
  post(message: Record<string, unknown>): boolean;
}

interface NativeObject {
  /** A handler of a WKWebView that replies answers with a promise. */
  postMessage(message: unknown): unknown;
}

const isNativeObject = (value: unknown): value is NativeObject =>
  typeof value === 'object' &&
  value !== null &&
  'postMessage' in value &&
  typeof value.postMessage === 'function' &&
  // A frame of the page that has the name is a global as well.
  !('window' in value && value.window === value);

/**
 * Finds the native side: `webkit.messageHandlers[name]` of a WKWebView, which takes objects, or `window[name]` of an
 * Android WebView (`addJavascriptInterface` or `addWebMessageListener`), which takes text. Looked up at each message,
 * because a host may add its object after the page has begun to load.
 */
export const findHostChannel = (name: string, scope: object = globalThis): HostChannel => {
  const find = (): ((message: Record<string, unknown>) => unknown) | null => {
    const webkit: unknown = Reflect.get(scope, 'webkit');
    const handlers: unknown =
      typeof webkit === 'object' && webkit !== null ? Reflect.get(webkit, 'messageHandlers') : undefined;
    const apple: unknown =
      typeof handlers === 'object' && handlers !== null ? Reflect.get(handlers, name) : undefined;
    // Called as methods: native objects refuse to be called without themselves.
    if (isNativeObject(apple)) return (message) => apple.postMessage(message);
    const android: unknown = Reflect.get(scope, name);
    return isNativeObject(android) ? (message) => android.postMessage(JSON.stringify(message)) : null;
  };
  return {
    get isThere() {
      return find() !== null;
    },
    post(message) {
      const send = find();
      // No reply is waited for, and one that is an error must be no unhandled rejection of the page.
      Promise.resolve(send?.(message)).catch(() => undefined);
      return send !== null;
    },
  };
};
