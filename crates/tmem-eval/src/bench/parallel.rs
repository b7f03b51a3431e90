//! The same work on many things, on all cores, in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// `work` on each of `items`; results stand in the order of the items.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len().max(1));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((place, item)) = take(&next, items) {
                    let result = work(item);
                    done.lock()
                        .expect("no worker panics with the lock")
                        .push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics with the lock");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    items.get(place).map(|item| (place, item))
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(
            super::map(&items, |item| item * 2),
            (0..200).step_by(2).collect::<Vec<_>>()
        );
        assert!(super::map(&[] as &[usize], |item| *item).is_empty());
    }
}
