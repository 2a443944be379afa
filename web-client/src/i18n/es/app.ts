// The Spanish texts about the page as an app. Page thread; pure data.

import type { AppWords } from "../../app_shell/words.ts";

export const esApp: AppWords = {
  offline: {
    title: "Sin conexión",
    text: "Tus proyectos están aquí. El cálculo sigue cuando este dispositivo vuelva a contactar con el servidor y toques Empezar.",
  },
  newVersion: {
    title: "Hay una versión nueva",
    text: "Vuelve a cargar esta página para usarla. No se pierde nada.",
  },
  reload: "Volver a cargar",
  install: {
    title: "Tenlo a mano",
    text: "Con un icono propio vuelves con un solo toque.",
  },
  add: "Añadir icono",
  notNow: "No, gracias",
  iosSteps: [
    "Toca el símbolo de compartir en la barra de Safari.",
    "Elige «Añadir a pantalla de inicio».",
  ],
  night: { begin: "Oscurecer por la noche", label: "Reloj nocturno", end: "Toca para salir" },
};
