import { Held, type Store } from '../../store.js';

const AT_END_PX = 4;
const UPWARDS = new Set(['ArrowUp', 'PageUp', 'Home']);

/**
 * Keeps a scroller at its end while what is in it grows, until its reader goes elsewhere: then it stays where it is, whatever
 * comes, and sticks again once the reader is back at the end. What a reader does is known by wheel, fingers, keys, the bar,
 * and by a place that rose although nothing became shorter.
 */
export class Stick {
  readonly #isStuck = new Held(true);
  #scroller: HTMLElement | null = null;
  #ends: (() => void)[] = [];
  #top = 0;
  #height = 0;
  #touchY: number | null = null;
  #isHeld = false;

  get isStuck(): Store<boolean> {
    return this.#isStuck;
  }

  readonly attach = (scroller: HTMLElement | null | Window): void => {
    for (const end of this.#ends.splice(0)) end();
    if (!(scroller instanceof HTMLElement)) return void (this.#scroller = null);
    this.#scroller = scroller;
    const on = <K extends keyof HTMLElementEventMap>(
      type: K,
      listener: (event: HTMLElementEventMap[K]) => void,
    ): void => {
      scroller.addEventListener(type, listener, { passive: true });
      this.#ends.push(() => scroller.removeEventListener(type, listener));
    };
    on('wheel', ({ deltaY }) => deltaY < 0 && this.#release());
    on('keydown', ({ key, shiftKey }) => (UPWARDS.has(key) || (key === ' ' && shiftKey)) && this.#release());
    on('touchstart', ({ touches }) => (this.#touchY = touches[0]?.clientY ?? null));
    on('touchmove', ({ touches }) => this.#dragged(touches[0]?.clientY ?? null));
    on('pointerdown', ({ target, offsetX }) => {
      this.#isHeld = target === scroller && offsetX >= scroller.clientWidth;
    });
    on('pointerup', () => (this.#isHeld = false));
    on('scroll', () => this.#scrolled(scroller));
    const observer = new ResizeObserver(() => this.grown());
    observer.observe(scroller);
    if (scroller.firstElementChild) observer.observe(scroller.firstElementChild);
    this.#ends.push(() => observer.disconnect());
    this.grown();
  };

  /** To be called when what is in the scroller may have become another size. */
  readonly grown = (): void => {
    const scroller = this.#scroller;
    if (!scroller) return;
    if (this.#isStuck.getSnapshot() && !this.#isHeld) scroller.scrollTop = scroller.scrollHeight;
    this.#remember(scroller);
  };

  /** Goes to the end, and stays there. */
  readonly stick = (): void => {
    this.#isStuck.set(true);
    this.grown();
  };

  #dragged(y: number | null): void {
    if (y !== null && this.#touchY !== null && y > this.#touchY + 2) this.#release();
    this.#touchY = y;
  }

  #release(): void {
    const scroller = this.#scroller;
    // Nowhere to go.
    if (scroller && scroller.scrollHeight > scroller.clientHeight + AT_END_PX) this.#isStuck.set(false);
  }

  #scrolled(scroller: HTMLElement): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const isAtEnd = scrollHeight - clientHeight - scrollTop <= AT_END_PX;
    const isRisen = scrollTop < this.#top - clientHeight / 3 && scrollHeight === this.#height;
    if (isRisen && !isAtEnd) this.#release();
    else if (isAtEnd && scrollTop > this.#top) this.#isStuck.set(true);
    this.#remember(scroller);
  }

  #remember({ scrollTop, scrollHeight }: HTMLElement): void {
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }
}
