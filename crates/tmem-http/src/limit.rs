//! How many requests may be under way at once: halved when the server says that they are too many,
//! growing back slowly. Nobody is turned away; those above the limit wait.

use std::{
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Growth of the limit with a whole round of good answers.
const GROWTH: f64 = 0.5;

#[derive(Debug)]
pub(crate) struct Limiter {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    limit: f64,
    max: f64,
    under_way: usize,
    /// How often the limit was cut: many refusals of one moment count as one.
    cuts: u64,
}

impl Limiter {
    pub(crate) fn new(max: usize) -> Self {
        #[expect(
            clippy::cast_precision_loss,
            reason = "no one sends 2^52 requests at once"
        )]
        let max = max.max(1) as f64;
        Self {
            state: Mutex::new(State {
                limit: max,
                max,
                under_way: 0,
                cuts: 0,
            }),
            freed: Notify::new(),
        }
    }

    /// Waits for a place.
    pub(crate) async fn enter(&self) -> Permit<'_> {
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(permit) = self.try_enter() {
                return permit;
            }
            freed.await;
        }
    }

    /// Most requests at once, as of now.
    pub(crate) fn limit(&self) -> usize {
        self.state().places()
    }

    fn try_enter(&self) -> Option<Permit<'_>> {
        let mut state = self.state();
        (state.under_way < state.places()).then(|| {
            state.under_way += 1;
            Permit {
                limiter: self,
                cuts: state.cuts,
            }
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn places(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is at least 1"
        )]
        let places = self.limit as usize;
        places.max(1)
    }
}

/// A place; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    limiter: &'a Limiter,
    cuts: u64,
}

impl Permit<'_> {
    /// The server said: too many. Says whether the limit went down.
    pub(crate) fn refused(&mut self) -> bool {
        let mut state = self.limiter.state();
        let first = self.cuts == state.cuts;
        if first {
            state.limit = (state.limit / 2.0).max(1.0);
            state.cuts += 1;
        }
        self.cuts = state.cuts;
        first
    }

    /// A good answer came.
    pub(crate) fn succeeded(&mut self) {
        let mut state = self.limiter.state();
        state.limit = (state.limit + GROWTH / state.limit).min(state.max);
        drop(state);
        self.limiter.freed.notify_waiters();
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limiter.state().under_way -= 1;
        self.limiter.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_one_moment_halve_the_limit_once() {
        let limiter = Limiter::new(8);
        let mut permits: Vec<_> = (0..8).map(|_| limiter.try_enter().unwrap()).collect();
        permits.iter_mut().for_each(|permit| _ = permit.refused());
        assert_eq!(limiter.limit(), 4);
        permits[0].refused();
        assert_eq!(limiter.limit(), 2);
    }

    #[test]
    fn it_never_falls_below_one_and_grows_back_slowly() {
        let limiter = Limiter::new(3);
        let mut permit = limiter.try_enter().unwrap();
        for _ in 0..5 {
            permit.refused();
        }
        assert_eq!(limiter.limit(), 1);
        permit.succeeded();
        assert_eq!(limiter.limit(), 1);
        for _ in 0..50 {
            permit.succeeded();
        }
        assert_eq!(limiter.limit(), 3);
    }

    #[test]
    fn a_place_is_given_back_when_dropped() {
        let limiter = Limiter::new(1);
        let permit = limiter.try_enter();
        assert!(limiter.try_enter().is_none());
        drop(permit);
        assert!(limiter.try_enter().is_some());
    }
}
