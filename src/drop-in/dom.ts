/**
 * A node whose properties are what the platform says. `<img name="currentScript">` in sanitised HTML replaces the
 * document's property of that name, and `<input name="style">` its form's. Pass the node itself to the platform.
 */
export function unclobbered<N extends Node>(node: N): N {
  return new Proxy({} as N, {
    get(_, name) {
      const value = Reflect.get(Object.getPrototypeOf(node), name, node);
      return typeof value === 'function' ? value.bind(node) : value;
    },
  });
}

/** This page's document. */
export const page = unclobbered(globalThis.document);
