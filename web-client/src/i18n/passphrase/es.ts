// The Spanish texts about passphrases. Page thread; pure data.

import type { PassphraseWords } from "./words.ts";

export const esPassphrase: PassphraseWords = {
  text: "Ocho palabras lo llevan a otro teléfono o navegador, sin cuenta. Quien tenga las palabras puede ver cuánto se aportó, y nada más.",
  kept: (count, formatted) =>
    count === 1
      ? "Conservado con ocho palabras. Las tiene este dispositivo."
      : `Conservado con ocho palabras. Las tienen ${formatted} dispositivos, que se cuentan juntos.`,
  make: "Conservar con ocho palabras",
  makeNew: "Crear palabras nuevas",
  makeNewHint:
    "Las palabras nuevas empiezan con los dispositivos de este navegador. Los demás conservan las anteriores.",
  restore: "Introducir tus palabras",
  working: "Un momento…",
  words: "Tus palabras",
  once: "Anótalas ahora. Solo se muestran una vez y no se guardan en ningún sitio.",
  copy: "Copiar las palabras",
  copied: "Copiadas.",
  copyByHand: "No se pudieron copiar. Anota las palabras.",
  done: "Ya las tengo",
  entry: "Tus ocho palabras",
  entryHint: "Bastan las tres primeras letras de cada palabra.",
  confirm: "Restaurar",
  cancel: "Cancelar",
  problems: {
    unknown:
      "Ningún dispositivo tiene estas palabras. Comprueba cada una y su orden. Si se olvidaron todos los dispositivos que las tenían, no queda nada que restaurar.",
    full: "Ya hay demasiados dispositivos con estas palabras. Olvida antes uno de ellos.",
    rate_limited: "Demasiados intentos ahora mismo. Espera un minuto y vuelve a intentarlo.",
    unreachable: "No se pudo contactar con el servidor. Vuelve a intentarlo.",
    no_device: "Empieza primero una vez: todavía no hay nada que conservar.",
    not_kept:
      "Restaurado para esta visita. Este navegador no guarda nada, como en una ventana privada; la próxima vez, vuelve a introducir las palabras.",
  },
  unknownWord: (word) => `«${word}» no es una de las palabras.`,
  count: (count, needed) => `Has escrito ${count} palabras. Hacen falta ${needed}.`,
};
