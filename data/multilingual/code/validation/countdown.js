// A countdown that survives a sleeping laptop: it compares clocks instead of counting ticks.

export function countdown(seconds, { onTick = () => {}, now = Date.now } = {}) {
  const end = now() + seconds * 1000;
  let timer = null;

  return new Promise((resolve) => {
    const tick = () => {
      const left = Math.max(0, Math.ceil((end - now()) / 1000));
      onTick(`${String(Math.floor(left / 60)).padStart(2, "0")}:${String(left % 60).padStart(2, "0")}`);
      if (left === 0) {
        clearInterval(timer);
        resolve();
      }
    };
    timer = setInterval(tick, 250);
    tick();
  });
}

/* Usage:
 *   await countdown(90, { onTick: (text) => (document.title = text) });
 */
