//! One process of a world: the store, the actors, and what watches them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clankie_actors::ports::{Ids, RoomDelivery, Vault};
use clankie_actors::store::Store;
use clankie_actors::{Clankie, Ports};

use super::World;
use crate::sim::agent::{Agents, Ship};
use crate::sim::chat::Courier;
use crate::sim::dice::Dice;
use crate::sim::disk::Listener;
use crate::sim::history::{Ending, What};
use crate::sim::observer::{Read, look, observe};
use crate::sim::owner::Desk;
use crate::sim::people::Door;
use crate::sim::ports::{SimClock, SimIds};
use crate::sim::scene::Scene;

/// A process that takes work.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) store: Store,
    pub(super) clankie: Clankie,
    pub(super) door: Door,
    pub(super) desk: Desk,
}

impl Life {
    /// Starts a process over the world's disk; how it ended, when it did not come that far.
    pub(super) async fn begin(world: &mut World) -> Result<Self, Ending> {
        let scene = Arc::clone(&world.scene);
        let ids = Arc::new(SimIds::new(Arc::clone(&scene), Dice::of(world.seed, &format!("ids {}", world.lives))));
        let lease = world.disk.lease(Arc::clone(&scene) as Arc<dyn Listener>);
        world.storm();
        // A process that is gone breaks no more.
        world.breaks.store(0, Ordering::SeqCst);
        let not_up = |why: String| match scene.is_on() {
            true => {
                scene.note(What::NotUp(why));
                Ending::Failed
            }
            false => Ending::Cut,
        };
        let store = Store::open_backend(lease, ids.uuid()).map_err(|why| not_up(why.to_string()))?;
        tokio::spawn(observe(Arc::clone(&scene), store.clone(), Arc::clone(&world.read)));
        let ports = ports(world, ids);
        let settings = world.cast.settings(world.version);
        let clankie = tokio::select! {
            biased;
            () = until_cut(&scene) => return Err(Ending::Cut),
            started = Clankie::start(store.clone(), ports, settings) => started.map_err(|why| not_up(why.to_string()))?,
        };
        look(&scene, &store, &world.read);
        scene.note(What::Up);
        let on_the_way = Arc::clone(&world.on_the_way);
        let door = Door { scene: Arc::clone(&scene), clankie: clankie.clone(), on_the_way, seed: world.seed };
        let desk = Desk { scene: Arc::clone(&scene), clankie: clankie.clone(), owners: Arc::clone(&world.owners) };
        if world.lives == 1 {
            desk.open(&mut world.dice).await.map_err(|why| not_up(why.to_string()))?;
        }
        Ok(Self { store, clankie, door, desk })
    }

    /// Stops in order, unless the power goes meanwhile.
    pub(super) async fn stop(&self, scene: &Scene, grace: u64) -> Option<Ending> {
        tokio::select! {
            biased;
            () = until_cut(scene) => {}
            _ = self.clankie.stop(Duration::from_millis(grace)) => {}
        }
        Some(Ending::Stopped)
    }

    /// Notes who holds permits and what lives, in a moment in which nothing happens.
    pub(super) fn look_at_rest(&self, scene: &Scene, read: &Mutex<Read>) {
        look(scene, &self.store, read);
        let Ok(snapshot) = self.store.snapshot() else { return };
        if let (Ok(permits), Ok(live)) = (snapshot.permits(), snapshot.live())
            && self.store.health().is_ok()
        {
            scene.note(What::Rest(permits, live.into_iter().map(Arc::new).collect()));
        }
    }
}

fn ports(world: &World, ids: Arc<SimIds>) -> Ports {
    let scene = || Arc::clone(&world.scene);
    let clock = Arc::new(SimClock::new(scene(), Arc::clone(&world.breaks)));
    let name = world.cast.executor.clone();
    let (seed, is_curious, calm) = (world.seed, world.cast.is_curious, Arc::clone(&world.calm));
    let agents = Agents { name, scene: scene(), seed, is_curious, calm };
    let dice = Mutex::new(Dice::of(world.seed, &format!("chat {}", world.lives)));
    let courier = Courier { scene: scene(), chat: Arc::clone(&world.chat), dice, calm: Arc::clone(&world.calm) };
    let vault: Arc<dyn Vault> = Arc::<crate::sim::ports::SimVault>::clone(&world.vault);
    let delivery: Arc<dyn RoomDelivery> = Arc::new(courier);
    Ports {
        clock,
        ids,
        executors: vec![Arc::new(agents)],
        delivery: Some(delivery),
        vault,
        machine_tools: vec![Arc::new(Ship(scene()))],
    }
}

/// Returns when the power has gone.
pub(super) async fn until_cut(scene: &Scene) {
    while scene.is_on() {
        scene.woken.notified().await;
    }
}
